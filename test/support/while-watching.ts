/** Looks at the state again and again while something is under way: what must hold at every moment, not only in the end. */

/** Rejects with the first look that fails, once `act` has ended. Looks at least once afterwards; answers how often it looked. */
export async function whileWatching(look: () => Promise<void>, act: () => Promise<void>): Promise<number> {
  let isOver = false;
  const looking = (async () => {
    for (let looks = 1; ; looks++) {
      const wasOver = isOver;
      await look();
      if (wasOver) return looks;
    }
  })();
  looking.catch(() => {}); // told below, after what it watches has ended
  try {
    await act();
  } finally {
    isOver = true;
  }
  return looking;
}
