/** Undefined if what is asked fails or takes too long: the rest of an answer does not depend on it. */
export async function unlessItFails<T>(
  asked: Promise<T> | undefined,
  timeoutMs: number,
): Promise<T | undefined> {
  if (asked === undefined) return undefined
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, timeoutMs, undefined)
  })
  try {
    return await Promise.race([asked, late])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
