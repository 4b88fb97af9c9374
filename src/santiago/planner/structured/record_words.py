"""The names of fields in JSON and YAML records. To support another tool's names, add them here.

Keys are compared without case and separators: `acceptanceCriteria`, `acceptance_criteria`, `acceptance-criteria` are the same.
"""

from __future__ import annotations

from santiago.planner.draft import Status
from santiago.planner.structured.tree import fold_key
from santiago.planner.words import spaced


def keys(table: str) -> tuple[str, ...]:
    """Return the names of a table in the form in which keys are compared."""
    return tuple(dict.fromkeys(fold_key(word) for word in table.split()))


# Where the units are

UNIT_LISTS = keys(
    "userStories userStory stories requirements functionalRequirements functional_reqs features"
    " featureList feature_list tasks taskList issues workItems tickets backlog productBacklog todos"
    " useCases items nonFunctionalRequirements nonFunctional nfrs technicalRequirements businessRequirements pendingFeatures pendingTasks"
)
"""Lists whose elements are units. The clearest names come first."""

GROUP_LISTS = keys(
    "phases epics milestones sprints stages iterations releases waves chunks groups modules areas themes"
    " domains tracks workstreams sections categories"
)
"""Lists whose elements contain lists of units."""

INNER_LISTS = keys("subtasks steps chunks capabilities deliverables actions stories children") + UNIT_LISTS
"""Lists of units inside a group."""

WEAK_LISTS = frozenset(keys("items issues backlog useCases todos")) | {""}
"""Names of lists that may hold anything. Their elements must look like work."""

# What a unit says

ID = keys("id storyId taskId requirementId reqId featureId issueId ticketId identifier uid")
WEAK_ID = keys("key number num no code ref")
TITLE = keys("title name subject headline summary shortTitle")
WEAK_TITLE = keys(
    "userStory story requirement feature task statement text description desc goal objective marker what content"
    " behavior behaviour action label body"
)

CRITERIA = (
    keys(
        "acceptanceCriteria acceptance_criterion acceptance criteria ac acs acceptanceTests acceptanceScenarios"
        " acceptanceConditions criteriosDeAceptacion criteriosAceptacion criteres_acceptation akzeptanzkriterien"
        " criteriosDeAceitacao 验收标准 受入基準 受け入れ基準 수용기준 인수기준 критерииПриемки"
    ),
    keys(
        "successCriteria doneWhen doneCriteria completionCriteria verificationCriteria checks specificChecks"
        " completionSignals"
    ),
    keys("assertions scenarios expectedBehavior expectedBehaviour expected testCases"),
    keys("steps verificationSteps validationSteps testSteps"),
)
"""Fields that hold criteria, in tiers. The first tier that a unit has is used; the others become text."""
CRITERIA_INSIDE = keys("test tests verification validation")
"""Fields whose value may be an object with such fields."""
GIVEN_WHEN_THEN = keys("given when then")

DEPENDS = keys(
    "dependsOn depends dependencies dependency deps blockedBy requires prerequisites prerequisite waitsFor runsAfter"
    " after predecessors dependências dependencias abhängigkeiten dépendances 依赖 依存 의존성"
)
DEPENDS_INSIDE = keys("requires dependsOn blockedBy needs on tasks stories internal hard")
"""In an object of dependencies, the lists of what the unit waits for; not `enables` and the like."""

FILES = keys(
    "files file filesToModify filesToCreate filesToChange filesModified filesCreated modifiedFiles relevantFiles"
    " affectedFiles targetFiles keyFiles filePath filePaths path paths deliverable deliverables testFile outputFile"
)
COMMANDS = keys(
    "verifyCommands verifyCommand verificationCommand verificationCommands testCommand testCommands validationCommands"
    " validationCommand checkCommand checkCommands commands command run qualityGates qualityCommands"
)
COMMANDS_IF_SHAPED = keys("verify verification validation test tests completionCriteria qualityChecks testStrategy")
"""Fields that often hold prose. Only what is plainly a command is used."""

DONE_FLAGS = keys("passes passed complete completed done isDone isCompleted finished implemented")
STATUS = keys("status state")
PRIORITY = keys("priority prio moscow importance")
ORDER = keys("order sequence ordinal executionOrder rank position")
CHUNK = keys("chunk phase epic milestone sprint wave stage iteration release epicTitle epicName phaseName")
SOFT_CHUNK = keys("category group area module component section owner domain theme track layer")
"""Groupings by person or topic, not by time: chunks only if they keep the order of the document."""
COVERS = keys(
    "requirements requirementRefs requirementIds covers satisfies implements traces tracesTo satisfiesAC"
    " relatedRequirements"
)
ROLE = keys("role worker workerRole")
TAGS = keys("tags labels aliases alias formerId")
OPTIONAL = keys("optional isOptional")
CHILDREN = keys("subtasks subTasks substeps children checklist")

HOUSEKEEPING = frozenset(
    keys(
        "createdAt updatedAt created updated createdDate updatedDate lastRun startedAt completedAt closedAt createdBy"
        " updatedBy lastUpdated timestamp date $schema uuid url htmlUrl"
    )
)
"""Fields that say nothing about the work."""

# Values

STATUS_WORDS = {
    Status.DROPPED: spaced(
        "cancelled canceled dropped rejected removed obsolete wontdo wontfix superseded deprecated duplicate notplanned"
        " tombstone abandoned skipped annulé abgebrochen cancelado отменено 取消 已取消 취소"
    ),
    Status.FUTURE: spaced(
        "deferred future later postponed icebox someday parked onhold wishlist futur zurückgestellt aplazado отложено"
    ),
    Status.DONE: spaced(
        "done completed complete closed finished implemented shipped merged passed passing verified validated"
        " resolved delivered terminé fertig erledigt hecho completado concluído feito готово выполнено 完成 已完成"
        " 完了 완료"
    ),
}
NEVER_WORDS = spaced("wont wonthave willnothave nothave")
"""Priorities that put a unit off."""

# What is not a plan

CONFIGURATION = frozenset(
    keys(
        "apiVersion kind environment env secrets values services volumes networks jobs image images replicas"
        " hosts handlers collections roles channels devDependencies peerDependencies scripts engines"
        " repositories inputs outputs on triggers pipeline plugins presets compilerOptions openapi swagger"
        " paths components definitions $schema properties ports ingress resources tolerations nodeSelector"
        " affinity serviceAccount autoscaling envFrom secret configMap"
    )
)
"""Keys of configuration files. A document with two of them is a plan only if a list clearly holds work."""

MACHINE = frozenset(
    keys(
        "hosts uses run image cmds cmd script taskRef become apt shell repository repo src selector command"
        " args schema endpoint method"
    )
)
"""Keys of elements that a program runs. Without criteria and ids, their list is a pipeline and not a plan."""
