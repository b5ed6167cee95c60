import type { BackendFactory, IQueueBackend } from 'bullmq'

/** Makes one BullMQ backend; the connection is the connector's own, whatever the options say. */
export type ConnectedFactory = BackendFactory<IQueueBackend, unknown>

/** What differs between the stores: how BullMQ reaches them, and how they are asked and closed. */
export interface Connector {
  /** For calls that must fail soon. */
  readonly producer: ConnectedFactory
  /** For loops that wait for as long as it takes. */
  readonly consumer: ConnectedFactory
  readonly prefix?: string
  ping(): Promise<void>
  publish(channel: string, message: string): Promise<void>
  /** Until the connector closes. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>
  /** After everything that BullMQ made is closed. */
  close(): Promise<void>
  /** At once, whatever is under way. */
  cut(): Promise<void>
}
