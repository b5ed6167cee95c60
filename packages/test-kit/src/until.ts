import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits for a condition, which is checked every 50 ms.
 *
 * @throws when the condition does not hold within `timeoutMs`
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  { timeoutMs = 60_000, what = String(holds) }: { timeoutMs?: number; what?: string } = {},
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`Not within ${timeoutMs / 1000} s: ${what}`)
    await sleep(50)
  }
}
