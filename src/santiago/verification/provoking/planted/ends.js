/* Stands on the first line of a program that judges, whose exits become calls of the one here. */
const __TOKEN___heard = (([number, path]) => path !== "__PATH__" || number === String(process.pid))((process.env.__TOKEN__ ?? "").split("\t"));
if (__TOKEN___heard) process.env.__TOKEN__ = process.pid + "\t" + "__PATH__";
function __TOKEN___mark(word) { if (__TOKEN___heard) process.stderr.write("\n__TOKEN__ " + word + " " + "__PATH__" + "\n"); }
function __TOKEN___exit(code) { __TOKEN___mark(code ?? process.exitCode ? "refused" : "ended"); process.exit(code); }
{
  const assert = process.getBuiltinModule?.("node:assert") ?? (typeof require === "function" ? require("node:assert") : {});
  const kept = [[assert, "assert"], [assert.strict ?? {}, "assert.strict"], [JSON, "JSON"]].flatMap(([owner, name]) =>
    Object.getOwnPropertyNames(owner).filter((key) => typeof owner[key] === "function").map((key) => [owner, name, key, owner[key]]));
  __TOKEN___mark("began");
  let denied = false;
  process.on("uncaughtExceptionMonitor", (error) => { __TOKEN___mark("refused"); denied ||= error?.code === "ERR_ASSERTION"; });
  process.on("exit", (code) => { if (denied && code === 0) __TOKEN___mark("overruled"); });
  process.once("beforeExit", (code) => {
    __TOKEN___mark(code ? "refused" : "ended");
    for (const [owner, name, key, was] of kept) {
      if (owner[key] !== was) throw new Error("AssertionError: __TOKEN__: " + (name + "." + key).replaceAll(".", " ") + " was replaced by another");
    }
  });
}
