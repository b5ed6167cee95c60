import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CborWriter, concatBytes } from '@ratatosk/cbor'

/** A block of which a peer sends any bodies. */
interface HostileBlock {
  /** Hex. */
  readonly headerHash: string
  /** The answers to one who asks, in order; the last again and again. */
  readonly bodies: readonly Uint8Array[]
}

/** An archivist that sends what a test says, and has nothing else. */
export interface HostilePeer {
  /** Where it is asked by one of those that it attacks. */
  url(name: string): string
  /** Several of its addresses: who backs off from one asks the next. */
  urls(name: string): string
  serve(block: HostileBlock | undefined): void
  close(): void
}

/** Enough that each has sent a right body before it lies again. */
const addresses = 4

const key = (name: string) => new CborWriter(16).text(name).toBytes()

/** The end of an answer of `/block/{hash}/body`. */
const endOf = (hash: string): Uint8Array =>
  concatBytes(key('hash'), Uint8Array.of(0x58, 28), Buffer.from(hash, 'hex'), key('height'), Uint8Array.of(1))

export async function openHostilePeer(): Promise<HostilePeer> {
  let served: HostileBlock | undefined
  const asked = new Map<string, number>()
  const server = createServer((request, response) => {
    const [, name = '', hash = ''] =
      /^\/(\w+)(?:\/\d)?\/block\/([0-9a-f]{56})\/body$/.exec(request.url ?? '') ?? []
    if (served === undefined || hash !== served.headerHash) return response.writeHead(404).end()
    const turn = asked.get(name) ?? 0
    asked.set(name, turn + 1)
    const body = served.bodies[Math.min(turn, served.bodies.length - 1)] ?? new Uint8Array()
    response.writeHead(200, { 'content-type': 'application/cbor' })
    response.write(concatBytes(Uint8Array.of(0xa3), key('body')))
    response.write(body)
    return response.end(endOf(hash))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const url = (name: string): string => `http://127.0.0.1:${port}/${name}`
  return {
    url,
    urls: (name) => Array.from({ length: addresses }, (_, n) => `${url(name)}/${n}`).join(),
    serve(block) {
      served = block
      asked.clear()
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
