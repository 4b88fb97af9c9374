/* One story on many machines: the coordinator orders attempts, workers claim them and keep a lease, all of them may die, be
 * cut off or be stopped for a while, and the coordinator's next start finds only its log, the queue and the remote.
 *
 * An order is one attempt. The queue ends each order once: done by the worker that claimed it, or lost when its lease is over.
 * A result is pushed before the queue is told of it. Each guard is a switch, so that a check can leave it out:
 *
 *   -DNO_RECORD     an order is put into the queue before its attempt is in the log
 *   -DNO_ONCE       a lost order goes to the next worker
 *   -DNO_FENCE      a worker may end an order that was lost meanwhile
 *   -DNO_NAME       a result is taken because it is there, whether or not the queue names it
 *   -DNO_ATTACH     a start ends the attempt that was under way without asking the queue
 *   -DNO_ORDER      a result is deleted from the remote before its end is in the log
 *   -DNO_TIMER      a worker that hears nothing lets its agent go on
 *   -DNO_SEND_TIME  the worker's own lease begins with the answer to a beat and not with the beat
 *
 *   spin -a machines.pml && gcc -DSAFETY -o pan pan.c && ./pan -m100000
 */

#define WORKERS 2
#define ORDERS  3
#define LEASE   3

mtype = { nowhere, queued, claimed, finished, lost };

/* The queue, and the remote */
mtype state[ORDERS + 1] = nowhere;
byte holder[ORDERS + 1];
byte silence[ORDERS + 1];       /* how long ago the last beat of its worker came, by the queue's clock */
bool result[ORDERS + 1];        /* a result lies on the remote */

/* The log */
byte begun = 0;                 /* attempts that it has begun */
byte ended = 0;                 /* attempts that it has the end of */
bool done = false;

/* The workers */
byte at[WORKERS + 1];           /* the order that it works on */
bool alive[WORKERS + 1];        /* its agent works */
bool paused[WORKERS + 1];       /* the worker is stopped from outside; its agent may go on */
byte heard[WORKERS + 1];        /* how long ago it sent its last answered beat, by its own clock */
byte sent[WORKERS + 1];         /* age of a beat that is on its way, plus one; 0 if there is none */
bool arrived[WORKERS + 1];      /* that beat has reached the queue, and its answer is on its way */

/* What really happened; no guard looks at it */
byte claims[ORDERS + 1];

#define NOW begun

#ifdef NO_ONCE
#define FREE(i) (state[i] == queued || state[i] == lost)
#else
#define FREE(i) (state[i] == queued)
#endif
#ifdef NO_FENCE
#define MAY_END(i) (state[i] == claimed || state[i] == lost)
#else
#define MAY_END(i) (state[i] == claimed && holder[i] == me)
#endif
#ifdef NO_NAME
#define ARRIVED(i) (result[i])
#else
#define ARRIVED(i) (state[i] == finished)
#endif

inline rest() { at[me] = 0; alive[me] = false; heard[me] = 0; sent[me] = 0; arrived[me] = false }

/* A worker's own timer ends its agent before the lease is over for the queue, unless somebody stopped the worker. */
inline own_timer(w) {
#ifdef NO_TIMER
  skip
#else
  if :: heard[w] >= LEASE && !paused[w] && alive[w] -> alive[w] = false :: else fi
#endif
}

proctype Worker(byte me) {
  byte i;
  do
  :: atomic { at[me] == 0 && !paused[me] ->                      /* claim */
       i = 1;
       do
       :: i <= ORDERS && !FREE(i) -> i++
       :: else -> break
       od;
       if
       :: i <= ORDERS ->
          state[i] = claimed; holder[i] = me; silence[i] = 0;
          at[me] = i; alive[me] = true; heard[me] = 0;
          claims[i]++;
          assert(claims[i] == 1)                                 /* no order is delivered twice */
       :: else
       fi;
       i = 0
     }
  :: atomic { at[me] != 0 && !paused[me] && sent[me] == 0 -> sent[me] = 1; arrived[me] = false }
  :: atomic { sent[me] != 0 && !arrived[me] && state[at[me]] == claimed ->
       silence[at[me]] = 0; arrived[me] = true }
  :: atomic { sent[me] != 0 && arrived[me] && !paused[me] ->     /* the answer */
#ifdef NO_SEND_TIME
       heard[me] = 0;
#else
       heard[me] = sent[me] - 1;
#endif
       sent[me] = 0; arrived[me] = false }
  :: atomic { at[me] != 0 && !paused[me] && alive[me] -> alive[me] = false; result[at[me]] = true }
  :: atomic { at[me] != 0 && !paused[me] && !alive[me] && result[at[me]] ->
       if
       :: MAY_END(at[me]) ->
          assert(state[at[me]] == claimed);                      /* what was lost stays lost */
          state[at[me]] = finished
       :: else                                                   /* too late: its work counts for nothing */
       fi;
       rest() }
  :: atomic { at[me] != 0 && !paused[me] && state[at[me]] == lost -> rest() }
  :: atomic { at[me] != 0 -> rest(); paused[me] = false }        /* it dies, and so does its agent */
  :: atomic { at[me] != 0 && !paused[me] -> paused[me] = true }
  :: atomic { paused[me] -> paused[me] = false; own_timer(me) }
  od
}

/* Time passes for all. */
inline older(w) {
  if
  :: at[w] != 0 ->
     heard[w]++;
     if :: sent[w] != 0 -> sent[w]++ :: else fi;
     own_timer(w)
  :: else
  fi
}

active proctype Time() {
  byte i;
  do
  :: atomic { (at[1] != 0 || at[2] != 0) && heard[1] <= LEASE && heard[2] <= LEASE && sent[1] <= LEASE && sent[2] <= LEASE ->
       older(1); older(2);
       for (i : 1 .. ORDERS) {
         if :: state[i] == claimed && silence[i] <= LEASE -> silence[i]++ :: else fi
       }
       i = 0
     }
  od
}

inline lose_expired() {
  if
  :: NOW != 0 && state[NOW] == claimed && silence[NOW] > LEASE ->
     state[NOW] = lost;
     assert(paused[holder[NOW]] || at[holder[NOW]] != NOW || !alive[holder[NOW]])  /* a cut-off agent is dead by then */
  :: else
  fi
}

inline begin_next() {
  if
  :: begun == ended && begun < ORDERS && !done -> begun++
  :: else
  fi
}

inline accept() {
  if
  :: begun > ended && ARRIVED(begun) ->
     assert(state[begun] == finished);                           /* only what the queue names */
     assert(result[begun]);                                      /* and it is still there */
     ended = begun;
     if :: done = true :: skip fi                                /* the verdict */
  :: begun > ended && state[begun] == lost && !ARRIVED(begun) -> ended = begun
  :: else
  fi
}

/* It may die between any two of these steps: whatever it knows is in the log, the queue or on the remote. */
active proctype Coordinator() {
  run Worker(1); run Worker(2);
  do
#ifdef NO_RECORD
  :: atomic { begun == ended && begun < ORDERS && !done && state[begun + 1] == nowhere -> state[begun + 1] = queued }
  :: atomic { begun < ORDERS && begun == ended && state[begun + 1] != nowhere -> begun++ }
#else
  :: atomic { skip; begin_next() }
  :: atomic { begun > ended && state[begun] == nowhere -> state[begun] = queued }   /* a start puts it again */
#endif
  :: atomic { skip; lose_expired() }
  :: atomic { skip; accept() }
#ifdef NO_ORDER
  :: atomic { begun > ended && ARRIVED(begun) -> result[begun] = false }
#else
  :: atomic { begun == ended && begun > 0 -> result[begun] = false }
#endif
#ifdef NO_ATTACH
  :: atomic { begun > ended -> ended = begun }                   /* it dies, and its next start asks nobody */
#endif
  od
}

/* Whatever ran is in the log, and no attempt begins while an earlier one may still come in. */
active proctype Watcher() {
  byte i;
  do
  :: atomic { skip;
       for (i : 1 .. ORDERS) {
         assert(i <= begun || claims[i] == 0);
         assert(i > ended || (state[i] != queued && state[i] != claimed))
       }
       i = 0
     }
  od
}
