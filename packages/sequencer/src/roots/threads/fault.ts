import { BlockError, type BlockErrorCode, isBlockError } from '@ratatosk/block'
import { isTrieError } from '@ratatosk/trie'
import { RootsError, type RootsErrorCode } from '../errors.js'

/** A `BlockError` or `RootsError` in the form in which it crosses threads. */
export interface ThreadFault {
  readonly code: BlockErrorCode | RootsErrorCode
  readonly message: string
  readonly reference?: string
  readonly position?: number
}

export function faultOf(error: unknown): ThreadFault {
  if (isBlockError(error)) {
    const { code, message, reference, position } = error
    return {
      code,
      message,
      ...(reference !== undefined && { reference }),
      ...(position !== undefined && { position }),
    }
  }
  const message = error instanceof Error ? error.message : String(error)
  if (isTrieError(error) && error.code === 'TRIE_STORE_CONFLICT')
    return { code: 'ROOTS_STORE_CONFLICT', message }
  if (isTrieError(error) && error.code === 'TRIE_STORE_CORRUPT')
    return { code: 'ROOTS_STORE_CORRUPT', message }
  return { code: 'ROOTS_FAILED', message }
}

export function errorOf({ code, message, ...details }: ThreadFault): Error {
  return isRootsCode(code) ? new RootsError(code, message) : new BlockError(code, message, details)
}

const isRootsCode = (code: RootsErrorCode | BlockErrorCode): code is RootsErrorCode =>
  code.startsWith('ROOTS_')
