import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { memo, memoAll, memoText } from "./memo.ts";

/** A function that counts how often it really runs. */
function counted<Keys extends readonly unknown[], Answer>(compute: (...keys: Keys) => Answer) {
  const calls = { count: 0 };
  const run = (...keys: Keys): Answer => {
    calls.count += 1;
    return compute(...keys);
  };
  return { run, calls };
}

describe("memo", () => {
  test("computes once for each object, and equal objects are different ones", () => {
    const { run, calls } = counted((list: readonly number[]) => list.length);
    const length = memo(run);
    const list = [1, 2];
    assert.deepEqual([length(list), length(list), calls.count], [2, 2, 1]);
    assert.deepEqual([length([1, 2]), calls.count], [2, 2]);
  });

  test("undefined is an answer like any other", () => {
    const { run, calls } = counted((numbers: readonly number[]) => numbers[0]);
    const find = memo(run);
    const key: number[] = [];
    assert.deepEqual([find(key), find(key), calls.count], [undefined, undefined, 1]);
  });

  test("a failure is not remembered", () => {
    let isBroken = true;
    const read = memo(({ text }: { text: string }) => {
      if (isBroken) throw new Error("broken");
      return text;
    });
    const key = { text: "read" };
    assert.throws(() => read(key));
    isBroken = false;
    assert.equal(read(key), "read");
  });
});

describe("memoAll", () => {
  test("computes once for each combination, in which the order counts", () => {
    const { run, calls } = counted((a: { n: number }, b: { n: number }, c: { n: number }) => `${a.n}${b.n}${c.n}`);
    const join = memoAll(run);
    const [one, two, three] = [{ n: 1 }, { n: 2 }, { n: 3 }];
    assert.deepEqual([join(one, two, three), join(one, two, three), calls.count], ["123", "123", 1]);
    assert.deepEqual([join(two, one, three), join(one, two, two), calls.count], ["213", "122", 3]);
  });
});

describe("memoText", () => {
  test("computes once for each text", () => {
    const { run, calls } = counted((text: string) => text.length);
    const length = memoText(run, 10);
    assert.deepEqual([length("abc"), length("abc"), calls.count], [3, 3, 1]);
  });

  test("keeps so many at most, and what is asked for again and again among them", () => {
    const { run, calls } = counted((text: string) => text);
    const same = memoText(run, 10);
    for (let at = 0; at < 1_000; at++) {
      same("often");
      same(`once ${at}`);
    }
    assert.equal(calls.count, 1_001, "`often` was computed once");
    same("once 999");
    assert.equal(calls.count, 1_001);
    same("once 989");
    assert.equal(calls.count, 1_002, "was dropped");
  });
});
