import {
  blake2b256,
  decodeTransactionOutput,
  fromHex,
  isDecodeError,
  type TransactionOutput,
  toHex,
} from '@ratatosk/ledger'
import { DevnetError } from '../errors.js'

/** What a chain begins with. Two chains of equal genesis and equal blocks are the same chain. */
export interface Genesis {
  /** POSIX milliseconds at which slot 0 begins. */
  readonly startTime: number
  /** Tells test networks apart; it is in no transaction since Shelley. */
  readonly networkMagic: number
  /** The first unspent outputs: `<64 hex digits>#<index>` and the output's CBOR in hex. */
  readonly utxos: readonly { readonly outref: string; readonly output: string }[]
}

export interface GenesisOutput {
  readonly key: string
  readonly transactionHash: string
  readonly index: number
  readonly output: TransactionOutput
}

/**
 * Reads the outputs of a genesis.
 *
 * @throws {DevnetError} `DEVNET_CONFIGURATION` naming the entry that is no output of a test network
 */
export function genesisOutputs({ utxos }: Genesis): GenesisOutput[] {
  const seen = new Set<string>()
  return utxos.map(({ outref, output: hex }, position) => {
    const fail = (reason: string): DevnetError =>
      new DevnetError('DEVNET_CONFIGURATION', `The genesis is wrong at utxos[${position}]: ${reason}`)
    const match = /^([0-9a-fA-F]{64})#(\d{1,5})$/.exec(outref)
    const transactionHash = match?.[1]?.toLowerCase()
    const index = Number(match?.[2])
    if (transactionHash === undefined || index > 0xffff) throw fail(`"${outref}" is no output reference`)
    const key = `${transactionHash}#${index}`
    if (seen.has(key)) throw fail(`${key} is there already`)
    seen.add(key)
    const output = readOutput(hex, fail)
    if (output.address.networkId !== 0) throw fail('its address is not of a test network')
    return { key, transactionHash, index, output }
  })
}

function readOutput(hex: string, fail: (reason: string) => DevnetError): TransactionOutput {
  try {
    return decodeTransactionOutput(fromHex(hex))
  } catch (error) {
    if (isDecodeError(error) || error instanceof RangeError) throw fail(error.message)
    throw error
  }
}

/** The hash that stands for the block before the first, and says what the chain began with. */
export function genesisHash({ startTime, networkMagic, utxos }: Genesis, slotLengthMs: number): string {
  const text = JSON.stringify([
    'ratatosk devnet',
    startTime,
    networkMagic,
    slotLengthMs,
    utxos.map(({ outref, output }) => [outref.toLowerCase(), output.toLowerCase()]),
  ])
  return toHex(blake2b256(Buffer.from(text, 'utf8')))
}
