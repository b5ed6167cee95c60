/** The settings are invalid; each of `problems` is a message that names a setting and says what to change. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly code = 'NODE_SETTINGS'

  constructor(readonly problems: readonly string[]) {
    super(problems.join('\n'))
  }
}

/** Whether a caught value is a {@link SettingsError}; works across copies of the package. */
export function isSettingsError(value: unknown): value is SettingsError {
  return value instanceof Error && 'code' in value && value.code === 'NODE_SETTINGS'
}

/** A backup, restoration or migration that failed. The message says what to do; no credentials. */
export class BackupError extends Error {
  override readonly name = 'BackupError'
  readonly code = 'NODE_BACKUP'
}

/** Whether a caught value is a {@link BackupError}; works across copies of the package. */
export function isBackupError(value: unknown): value is BackupError {
  return value instanceof Error && 'code' in value && value.code === 'NODE_BACKUP'
}

const startErrorCodes = [
  'NODE_DATA_DIR',
  'NODE_DATABASE',
  'NODE_QUEUE',
  'NODE_GENESIS',
  'NODE_LISTEN',
] as const

/**
 * Why a node with valid settings did not start.
 *
 * | code | meaning |
 * | --- | --- |
 * | `NODE_DATA_DIR` | the data directory cannot be used, or another process uses it |
 * | `NODE_DATABASE` | the store cannot be opened |
 * | `NODE_QUEUE` | the queue cannot be opened |
 * | `NODE_GENESIS` | the ledger started with other outputs than those of the genesis file |
 * | `NODE_LISTEN` | the server cannot listen on the address |
 */
export type StartErrorCode = (typeof startErrorCodes)[number]

/** The node did not start. The message is for the operator and contains no credentials. */
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

/** Whether a caught value is a {@link StartError}; works across copies of the package. */
export function isStartError(value: unknown): value is StartError {
  const codes: readonly unknown[] = startErrorCodes
  return value instanceof Error && 'code' in value && codes.includes(value.code)
}
