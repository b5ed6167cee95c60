import { type Archive, bodyOf, encodeBlockBody, encodeHeader, type Header, headerHash } from '@ratatosk/block'
import { equalBytes, fromHex } from '@ratatosk/cbor'
import { decodeOutputReference } from '@ratatosk/ledger'
import { outputsBefore } from '../../../../protocol/dist/fraud/test/lying-blocks.js'
import { createFollower, layer1Chain } from '../../index.js'
import type { Watcher } from '../index.js'
import type { Watched } from './scene.js'

/** A block on layer 1, and its body. */
export interface Published {
  readonly header: Header
  readonly transactions: readonly Uint8Array[]
}

export const genesisOf = (outputs = outputsBefore()) =>
  Array.from(outputs, ([key, output]) => ({
    reference: decodeOutputReference(fromHex(key)),
    output,
  }))

export const silent = { info() {}, warn() {}, error() {} }

/** Gives a watcher what a follower finds in the state queue. Its blocks are served by this process. */
export function followReally(
  { scene, store, parameters }: Watched,
  { watch, unavailable, available }: Pick<Watcher, 'watch' | 'unavailable' | 'available'>,
  blocks: readonly Published[],
  isAway?: () => boolean,
): { close(): Promise<void> } {
  const { layer1, contracts, slots } = scene
  const opened = createFollower({
    chain: layer1Chain(layer1, contracts),
    peers: [],
    own: served(blocks, isAway),
    archive: store.archive,
    genesis: genesisOf(),
    rules: { parameters, networkId: 0, slots },
    log: silent,
    pollMs: 50,
    backoffMs: 20,
    watch,
    unavailable,
    available,
  })
  return { close: async () => (await opened).close() }
}

export function served(
  blocks: readonly Published[],
  isAway: () => boolean = () => false,
): Pick<Archive, 'byHash' | 'byHeight' | 'body'> {
  const all = blocks.map(({ header, transactions }, index) => ({
    headerHash: headerHash(header),
    header: encodeHeader(header),
    height: BigInt(index + 1),
    merged: false,
    body: encodeBlockBody(bodyOf(transactions)),
  }))
  return {
    byHash: async (hash) =>
      isAway() ? undefined : all.find(({ headerHash }) => equalBytes(headerHash, hash)),
    byHeight: async (height) => all[Number(height) - 1],
    async *body(hash) {
      const found = all.find(({ headerHash }) => equalBytes(headerHash, hash))
      if (found === undefined || isAway()) throw new Error('There is no such block')
      yield found.body
    },
  }
}
