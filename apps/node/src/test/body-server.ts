import { archivist } from '@ratatosk/archivist'
import { type Archive, bodyOf, encodeBlockBody, encodedHeader, type Header } from '@ratatosk/block'
import { equalBytes } from '@ratatosk/cbor'
import fastify from 'fastify'
import type { Test } from 'tap'

interface KnownBlock {
  readonly header: Header
  readonly transactions: readonly Uint8Array[]
  /** By default 1. */
  readonly height?: bigint
}

/** Serves the body of one block, once it is known, as an archivist. */
export async function serveBody(t: Test) {
  let known: KnownBlock | undefined
  const block = () => {
    if (known === undefined) return undefined
    const { bytes, hash } = encodedHeader(known.header)
    return { headerHash: hash, height: known.height ?? 1n, header: bytes, merged: false }
  }
  const byHash: Archive['byHash'] = async (headerHash) => {
    const found = block()
    return found && equalBytes(found.headerHash, headerHash) ? found : undefined
  }
  const archive: Archive = {
    byHash,
    async byHeight(height) {
      const found = block()
      return found?.height === height ? found : undefined
    },
    range: async () => [],
    async *body() {
      yield encodeBlockBody(bodyOf([...(known?.transactions ?? [])]))
    },
  }
  const server = fastify({ forceCloseConnections: true })
  t.teardown(() => server.close())
  await server.register(archivist, { archive })
  return {
    url: await server.listen({ host: '127.0.0.1', port: 0 }),
    know: (block: KnownBlock | undefined) => {
      known = block
    },
  }
}
