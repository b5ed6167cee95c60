/** The most requests of one client in progress; the others share what is left. */
const maxOfClient = 4

/**
 * Counts requests in progress by client, so that one client cannot take the turns of all others.
 *
 * @example
 * const clients = shareByClient()
 * const answer = await clients(request.ip, work) // undefined: this client has too many in progress
 */
export function shareByClient(): <T>(client: string, work: () => Promise<T>) => Promise<T | undefined> {
  const running = new Map<string, number>()
  return async (client, work) => {
    const count = running.get(client) ?? 0
    if (count >= maxOfClient) return undefined
    running.set(client, count + 1)
    try {
      return await work()
    } finally {
      const left = (running.get(client) ?? 1) - 1
      if (left > 0) running.set(client, left)
      else running.delete(client)
    }
  }
}
