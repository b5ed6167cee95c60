import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for what must come; how long it takes is not judged, unless it never comes. */
export async function until(holds: () => Promise<boolean>, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${holds}`)
    await sleep(50)
  }
}
