import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** Most bytes of the files that settings name, of the file with the settings, and of a backup's manifest. */
export const fileLimits = {
  secret: 65_536,
  settings: 262_144,
  parameters: 1_048_576,
  manifest: 1_048_576,
  genesis: 268_435_456,
}

const pieceBytes = 65_536

/** The text of a regular file; devices and pipes may not end. @throws Error to be put behind a colon */
export function readRegularFile(path: string | URL, maxBytes: number): string {
  const file = opened(path)
  try {
    if (!fstatSync(file).isFile()) throw new Error('it is not a regular file. Name a file on a disk')
    return textOf(file, maxBytes)
  } finally {
    closeSync(file)
  }
}

const reasons = new Map([
  ['ENOENT', ': it does not exist'],
  ['ENOTDIR', ': a part of its path is no folder'],
  ['EACCES', ': this user may not read it, or a folder above it'],
])

/** Opens without waiting for the other end of a pipe. */
function opened(path: string | URL): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
    throw new Error(`the file cannot be read${reasons.get(code) ?? ''}`, { cause })
  }
}

/** The file size by the system need not be true, as for files of `/proc`. */
function textOf(file: number, maxBytes: number): string {
  const pieces: Buffer[] = []
  for (let bytes = 0; ; ) {
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, maxBytes + 1 - bytes))
    const count = readSync(file, piece)
    if (count === 0) return Buffer.concat(pieces).toString('utf8')
    bytes += count
    if (bytes > maxBytes) throw new Error(`it has more than ${maxBytes} bytes. Name another file`)
    pieces.push(piece.subarray(0, count))
  }
}
