/** How long this process stood still: on a busy machine no timer can be on time, and that is nobody's fault here. */
export function watchStandstill(): () => number {
  const everyMs = 5;
  let last = performance.now();
  let longest = 0;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last - everyMs);
    last = now;
  };
  const timer = setInterval(look, everyMs);
  return () => {
    clearInterval(timer);
    look();
    return longest;
  };
}
