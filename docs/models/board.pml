/* Lease and fence of one ticket: workers claim it, renew, hand it over, dawdle and die, while its lease may end at any time.
 *
 * Each worker keeps the number of the claim that it was given: a late move is one that it sends with an old number. Every
 * atomic block is one transaction of the board. Each guard is a switch, so that a check can leave it out:
 *
 *   -DNO_TRANSACTION  looking for a ticket and taking it are two transactions
 *   -DNO_EXPIRY       a claim takes a ticket from its holder though the lease is not over
 *   -DNO_COUNT        a claim does not raise the number of attempts
 *   -DNO_BUDGET       a claim does not look at the attempts that are left
 *   -DNO_FENCE        a move is taken whatever claim it comes from
 *   -DNO_RENEW_FENCE  a renewal is taken whatever claim it comes from
 *   -DNO_RELEASE      a handover leaves the lease as it is
 *
 *   spin -a board.pml && gcc -DSAFETY -o pan pan.c && ./pan
 */

#define WORKERS 3
#define BUDGET  4
#define NOBODY  0

#ifdef NO_EXPIRY
#define OVER true
#else
#define OVER over
#endif
#ifdef NO_BUDGET
#define LEFT true
#else
#define LEFT (attempts < BUDGET)
#endif
#ifdef NO_FENCE
#define MAY_MOVE (mine != 0)
#else
#define MAY_MOVE (mine != 0 && mine == attempts && holder == me)
#endif
#ifdef NO_RENEW_FENCE
#define MAY_RENEW (mine != 0)
#else
#define MAY_RENEW (mine != 0 && mine == attempts && holder == me)
#endif

mtype = { pending, in_progress, review };

/* The ticket, as the store has it */
mtype status = pending;
byte attempts = 0;
byte holder = NOBODY;
bool over = false;          /* the time of the lease is up, whether or not somebody has noticed */

/* What really happened; no guard looks at it */
byte claims = 0;            /* how many were given */
byte latest = NOBODY;       /* to whom the last one */
byte handed_over = 0;       /* the last one whose work was handed over */
bool holds[WORKERS + 1];    /* who was given it, and has neither let it go nor lost it since */

#define HOLDERS (holds[1] + holds[2] + holds[3])

inline let_go() {
  holds[holder] = false;
  holder = NOBODY;
  over = false
}

/* The first thing in every claim: a ticket whose lease is over goes back */
inline release_expired() {
  if
  :: status == in_progress && OVER ->
     assert(over);                              /* nobody loses a lease that lives */
     let_go();
     status = pending
  :: else
  fi
}

inline take() {
  status = in_progress;
#ifndef NO_COUNT
  attempts++;
#endif
  holder = me; over = false; mine = attempts;
  claims++; latest = me; holds[me] = true;
  assert(HOLDERS == 1);                         /* no two live holders */
  assert(attempts == claims);                   /* each attempt is counted once */
  assert(attempts <= BUDGET)
}

active [WORKERS] proctype Worker() {
  byte me = _pid + 1;
  byte mine = 0;                                /* the claim that it remembers */
  bool free;

  do
  :: atomic { skip;                             /* claim */
       release_expired();
       free = (status == pending && LEFT);
#ifdef NO_TRANSACTION
     }
     atomic {
#endif
       if
       :: free -> take()
       :: else
       fi;
       free = false
     }

  :: atomic { skip;                             /* renew */
       if
       :: status == in_progress && MAY_RENEW ->
          assert(latest == me && mine == claims);
          over = false
       :: else
       fi
     }

  :: atomic { skip;                             /* hand over */
       if
       :: status == in_progress && MAY_MOVE ->
          assert(latest == me && mine == claims);   /* no move of an earlier claim takes effect */
          assert(handed_over < mine);               /* and none takes effect twice */
          handed_over = mine;
          status = review;
#ifndef NO_RELEASE
          let_go()
#endif
       :: else
       fi
     }

  :: atomic { skip;                             /* give back */
       if
       :: status == in_progress && MAY_MOVE ->
          assert(latest == me && mine == claims);
          status = pending;
          let_go()
       :: else
       fi
     }

  :: mine = 0                                   /* die; whoever starts in its place remembers nothing */
  od
}

active proctype Planner() {
  do
  :: atomic { status == review -> assert(holder == NOBODY && HOLDERS == 0); status = pending }
  od
}

active proctype Time() {
  do
  :: atomic { status == in_progress && !over -> over = true }
  od
}
