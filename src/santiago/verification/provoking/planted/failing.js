// A test that must fail: the last line is reached where every assertion still says no.
__TOKEN__("__TOKEN__", async () => {
  const assert = typeof require === "function" ? require("node:assert") : (await import("node:assert")).default;
  const asked = [
    () => assert(false), () => assert.ok(0), () => assert.fail(), () => assert.equal(1, 2), () => assert.strictEqual(1, 2),
    () => assert.deepEqual([1], [2]), () => assert.deepStrictEqual({ a: 1 }, { a: 2 }), () => assert.notStrictEqual(1, 1),
    () => assert.strict.equal(1, 2), () => assert.throws(() => 1), () => assert.match("a", /b/),
  ];
  if (typeof expect === "function") {
    asked.push(() => expect(1).toBe(2), () => expect([1]).toEqual([2]), () => expect(() => 1).toThrow(), () => expect(1).to.equal(2));
  }
  for (const ask of asked) {
    try { await ask(); } catch { continue; }
    return; // somebody has made this assertion harmless: that the test passes gives it away
  }
  throw new Error("__TOKEN__");
});
