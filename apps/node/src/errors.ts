/** Settings that the node cannot start with; each problem is one sentence that names the setting. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly code = 'NODE_SETTINGS'

  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'))
  }
}

/**
 * Why the node did not start, although its settings are in order.
 *
 * | code | meaning |
 * | --- | --- |
 * | `NODE_DATA_DIR` | the data directory cannot be used, or another process uses it |
 * | `NODE_DATABASE` | the store cannot be opened |
 * | `NODE_QUEUE` | the queue cannot be opened |
 * | `NODE_GENESIS` | the ledger has begun with other outputs than those of the genesis file |
 * | `NODE_LISTEN` | the address cannot be listened on |
 */
export type StartErrorCode = 'NODE_DATA_DIR' | 'NODE_DATABASE' | 'NODE_QUEUE' | 'NODE_GENESIS' | 'NODE_LISTEN'

/** The node did not start; the message is for the person who started it and holds no credential. */
export class StartError extends Error {
  override readonly name = 'StartError'

  constructor(
    readonly code: StartErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
