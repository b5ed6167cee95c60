import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { midgardChain, midgardGenesis as output, vectors, vectorsFolder } from '@ratatosk/fixtures/vectors'
import { decodeTransaction, decodeTransactionOutput } from '@ratatosk/ledger'
import type { Log } from '@ratatosk/ports'
import type { LedgerEntry, SignedTransaction } from './chains.js'

/** All entries of a list that is read page by page. */
export async function collect<T>(pages: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const page of pages) all.push(...page)
  return all
}

/** A log to the console if `RATATOSK_LOG` is set, to find out why a test fails; otherwise undefined. */
export function logOf(name: string): Log | undefined {
  if (process.env.RATATOSK_LOG === undefined) return undefined
  return {
    info: (_, message) => console.log(name, message),
    warn: (fields, message) => console.log(name, message, fields),
    error: (fields, message) => console.log(name, message, fields),
  }
}

/** Why tests with Midgard's transactions must be skipped; undefined if they can run. */
export const midgardMissing: string | undefined =
  vectorsFolder('midgard-txs') === undefined
    ? `no midgard-txs under RATATOSK_VECTORS (${vectors})`
    : undefined

/** Test cases of services of layer 1, from a file of the collection `peers`; undefined if it is absent. */
export function peerCases<Case>(file: string): readonly Case[] | undefined {
  const folder = vectorsFolder('peers')
  return folder === undefined ? undefined : JSON.parse(readFileSync(join(folder, file), 'utf8'))
}

/** The cases that an API answers otherwise than its service, by their names, with the reasons. */
export function knownDeviations(api: 'blockfrost' | 'kupo' | 'ogmios'): Readonly<Record<string, string>> {
  const file = new URL('../../chain-apis/src/test/known-deviations.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8'))[api]
}

/** 1,000 signed transactions in order, each spending the output of the previous one. */
export function midgardTransactions(file: 'txs_0.json' | 'txs_1.json'): SignedTransaction[] {
  return [...midgardChain(join(vectors, 'midgard-txs'), file).transactions]
}

/** The output that the first transaction of a chain spends. */
export function genesisOf([first]: readonly SignedTransaction[]): LedgerEntry {
  const { body } = decodeTransaction(first!.cbor)
  const reference = body.inputs[0]!
  const { address } = decodeTransactionOutput(output)
  return {
    reference,
    output,
    address: address.bytes,
  }
}

/** Numbers from 0 to below 1. */
export type Random = () => number

/** Mulberry32: the same numbers for the same seed. */
export function generator(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pick<T>(random: Random, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T
}

/** Random bytes in hex. */
export function hex(random: Random, bytes: number): string {
  return Array.from({ length: bytes }, () =>
    Math.floor(random() * 256)
      .toString(16)
      .padStart(2, '0'),
  ).join('')
}

/** A text in hex with one digit replaced. */
export function mutated(random: Random, text: string): string {
  const at = Math.floor(random() * text.length)
  return text.slice(0, at) + pick(random, [...'0123456789abcdef']) + text.slice(at + 1)
}
