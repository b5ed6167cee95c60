import type { Redis } from 'ioredis'

/** A connection of its own for subscriptions, made with the first; ioredis renews them when it connects again. */
export function redisSubscriber(connection: Redis) {
  let subscriber: Redis | undefined
  return {
    async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
      if (subscriber === undefined) {
        subscriber = connection.duplicate()
        subscriber.setMaxListeners(0)
        // The connection that it is a duplicate of tells of the same outages.
        subscriber.on('error', () => undefined)
      }
      subscriber.on('message', (from: string, message: string) => {
        if (from === channel) listener(message)
      })
      await subscriber.subscribe(channel)
    },
    close(): void {
      subscriber?.disconnect()
    },
  }
}
