import { once } from 'node:events'
import type { OgmiosVersion } from '@ratatosk/chain-apis'
import { knownDeviations, peerCases } from '@ratatosk/test-kit'
import { listening } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { createDevnet } from '../../create-devnet.js'
import { devnetApis } from '../../plugin/devnet-apis.js'
import { type PeerCase, requestOf } from '../../test/ogmios-requests.js'
import { aliceGenesis } from '../../test/scenes.js'

const deviations = knownDeviations('ogmios')

interface Answer {
  readonly error?: { readonly code: number }
}

async function serve(t: Test, ogmiosVersion: OgmiosVersion) {
  const devnet = await createDevnet({ genesis: aliceGenesis, blockEveryMs: 0 })
  const server = fastify({ forceCloseConnections: true })
  t.teardown(async () => {
    await server.close()
    await devnet.close()
  })
  await server.register(devnetApis, { devnet, ogmiosVersion })
  return { devnet, server }
}

/** A function that asks over one connection with a mempool snapshot. */
async function connected(t: Test, server: Awaited<ReturnType<typeof serve>>['server']) {
  const { url } = await listening(server)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ogmios`)
  t.teardown(() => socket.terminate())
  await once(socket, 'open')
  const ask = async (request: object): Promise<Answer> => {
    const answer = once(socket, 'message')
    socket.send(JSON.stringify(request))
    const [message] = await answer
    return JSON.parse(String(message))
  }
  await ask({ jsonrpc: '2.0', method: 'acquireMempool' })
  return ask
}

/** The answer of a case, if the case expects another one. */
function deviation({ expected }: PeerCase, { error }: Answer): string | undefined {
  const got = error === undefined ? 'result' : `error ${error.code}`
  const agrees = expected === got || (expected === 'error' && error !== undefined)
  return agrees || expected === 'not determined' ? undefined : got
}

for (const [version, file] of [
  ['6', 'ogmios-requests.json'],
  ['7', 'ogmios-requests-7.json'],
] as const) {
  const cases = peerCases<PeerCase>(file)
  const skip = cases === undefined && 'needs peers/ in RATATOSK_VECTORS'
  t.test(
    `answers the requests of others as Ogmios ${version}, with known deviations`,
    { skip },
    async (t) => {
      const { devnet, server } = await serve(t, version)
      const ask = await connected(t, server)
      const found: string[] = []
      for (const peerCase of cases ?? []) {
        const { request, situation } = peerCase
        await devnet.rollBack(devnet.tip().height)
        await devnet.produceBlock()
        const payload = await requestOf(peerCase, devnet)
        const answer = situation.startsWith('ws')
          ? await ask(payload)
          : (await server.inject({ method: 'POST', url: '/ogmios', payload })).json()
        const got = deviation(peerCase, answer)
        if (got !== undefined) found.push(`${request.method} (${situation}): ${got}`)
      }
      t.strictSame(found.sort(), Object.keys(deviations).sort())
    },
  )
}
