import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** Whose `X-Forwarded-*` headers count. */
export interface TrustedProxies {
  /** How many addresses `X-Forwarded-For` should have; undefined if proxies are known by their addresses. */
  readonly expected: number | undefined
  /** Whether an address is a proxy's. `hop`: 0 for the peer, 1 for the last of `X-Forwarded-For`, etc. */
  trusts(address: string | undefined, hop: number): boolean
}

const forwardedFor = 'x-forwarded-for'

/**
 * Reads TRUST_PROXY: a number of proxies, or their addresses and networks; undefined without proxies.
 * @throws {TypeError} with the part that is neither an address nor a network
 */
export function trustedProxies(setting: string): TrustedProxies | undefined {
  if (setting === 'false' || setting === '0') return undefined
  if (setting === 'true') return hops(1)
  if (/^\d$/.test(setting)) return hops(Number(setting))
  const networks = new BlockList()
  for (const part of setting.split(',')) addNetwork(networks, part.trim())
  return {
    expected: undefined,
    trusts: (address = '') => isIP(address) !== 0 && networks.check(address, familyOf(address)),
  }
}

const hops = (count: number): TrustedProxies => ({
  expected: count,
  trusts: (_address, hop) => hop < count,
})

const familyOf = (address: string) => (isIPv6(address) ? 'ipv6' : 'ipv4')

function addNetwork(networks: BlockList, text: string): void {
  const [address = '', bits, ...rest] = text.split('/')
  const most = isIPv4(address) ? 32 : 128
  const isNetwork = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most)
  if (isIP(address) === 0 || address.includes('%') || !isNetwork || rest.length > 0) throw new TypeError(text)
  networks.addSubnet(address, Number(bits ?? most), familyOf(address))
}

/** Whether the peer of a request's connection is a proxy. */
export const isFromProxy = (proxies: TrustedProxies | undefined, { socket }: IncomingMessage): boolean =>
  proxies?.trusts(socket.remoteAddress, 0) === true

/** An entry without the port that some proxies add, such as those of Azure and IIS. */
function withoutPort(entry: string): string {
  const [, v6 = '', v4 = ''] = /^(?:\[(.*)\]|(.*)):\d{1,5}$/.exec(entry.trim()) ?? []
  if (isIPv6(v6)) return v6
  return isIPv4(v4) ? v4 : entry
}

/**
 * Ignores an `X-Forwarded-For` without an address in the client's place: the client's text must not be the
 * key of a limit. Warns once about more addresses than proxies.
 */
export function checkForwardedFor(server: FastifyInstance, { expected }: TrustedProxies): void {
  let hasWarned = false
  server.addHook('onRequest', (request, _reply, done) => {
    const given = request.raw.headers[forwardedFor]
    if (typeof given === 'string') {
      const entries = given.split(',')
      if (expected !== undefined && entries.length > expected && !hasWarned) {
        hasWarned = true
        request.log.warn(
          { entries: entries.length, expected },
          'X-Forwarded-For has more addresses than TRUST_PROXY says: the proxy appends to the header of a ' +
            'client, or more proxies are in front',
        )
      }
      request.raw.headers[forwardedFor] = entries.map(withoutPort).join()
      if (isIP(request.ip) === 0) delete request.raw.headers[forwardedFor]
    }
    done()
  })
}
