import { once } from 'node:events'
import { fromHex, toHex } from '@ratatosk/cbor'
import type { OgmiosVersion } from '@ratatosk/chain-apis'
import { knownDeviations, peerCases } from '@ratatosk/test-kit'
import { listening } from '@ratatosk/test-kit/http'
import {
  alice,
  aliceGenesis,
  bob,
  draft,
  failing,
  failingHash,
  first,
  lock,
  payment,
  second,
  succeeding,
  succeedingHash,
  unlock,
} from '@ratatosk/test-kit/ledger-apis'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { createDevnet } from '../../create-devnet.js'
import { devnetApis } from '../../plugin/devnet-apis.js'
import type { Devnet } from '../../types.js'

/** A request as Ogmios's own tests and users make it, and what the real service answers. */
interface PeerCase {
  readonly request: { readonly method: string; readonly params?: object }
  readonly situation: string
  /** `result`, `error`, `error <code>` or `not determined`. */
  readonly expected: string
}

/** One metadatum under label 1: the text `a`. */
const metadata = fromHex('a1016161')
const redeemer = { tag: 0, index: 0, memory: 10_000n, steps: 10_000_000n }
const base = {
  inputs: [first],
  outputs: [{ address: bob.addressBytes, lovelace: 99_800_000n }],
  fee: 200_000n,
  signers: [alice],
}

/** A transaction with other auxiliary data than the one whose hash its body has. */
function withOther(auxiliaryData: Uint8Array): Uint8Array {
  const { cbor } = draft({ ...base, auxiliaryData: metadata })
  return Uint8Array.from([...cbor.subarray(0, cbor.length - metadata.length), ...auxiliaryData])
}

/** Spends an output that a script locks. */
async function unlocking(devnet: Devnet, more: object): Promise<Uint8Array> {
  const locked = await lock(devnet, succeedingHash)
  const outputs = [{ address: bob.addressBytes, lovelace: 19_700_000n }]
  return draft({ ...base, inputs: [locked], outputs, fee: 300_000n, ...more }).cbor
}

/** The transaction of each situation; the cases name it only. */
const situations: Readonly<Record<string, (devnet: Devnet) => Uint8Array | Promise<Uint8Array>>> = {
  malformed: () => Uint8Array.of(0x80),
  'not balanced 3123': () => draft({ ...base, fee: 300_000n }).cbor,
  'not yet valid 3118': (devnet) => draft({ ...base, invalidBefore: devnet.currentSlot() + 1_000n }).cbor,
  'output too small 3125': () =>
    draft({ ...base, outputs: [...base.outputs, { address: bob.addressBytes, lovelace: 1n }], fee: 199_999n })
      .cbor,
  'wrong network 3124': () => {
    const address = Uint8Array.from([bob.addressBytes[0]! | 1, ...bob.addressBytes.subarray(1)])
    return draft({ ...base, outputs: [{ address, lovelace: 99_800_000n }] }).cbor
  },
  'metadata hash wrong 3107': () => withOther(fromHex('a1016162')),
  'metadata missing 3106': () => withOther(Uint8Array.of(0xf6)),
  'metadata bytes of 65': () => draft({ ...base, auxiliaryData: fromHex(`a1015841${'00'.repeat(65)}`) }).cbor,
  'missing redeemer 3109': (devnet) => unlocking(devnet, { scripts: [succeeding] }),
  'extra redeemer 3110': (devnet) =>
    unlocking(devnet, {
      scripts: [succeeding],
      collateral: [second],
      redeemers: [redeemer, { ...redeemer, tag: 1 }],
    }),
  'no collateral 3132': (devnet) => unlocking(devnet, { scripts: [succeeding], redeemers: [redeemer] }),
  'extraneous script 3104': () => draft({ ...base, scripts: [succeeding] }).cbor,
  'certificate (L2 profile)': () =>
    draft({ ...base, certificates: [{ registers: false, keyHash: alice.hash }] }).cbor,
  'input spent 3117': async (devnet) => {
    const { cbor } = payment()
    await devnet.submit(cbor)
    return cbor
  },
  'too big': () =>
    draft({
      ...base,
      outputs: Array.from({ length: 500 }, () => ({ address: bob.addressBytes, lovelace: 199_600n })),
    }).cbor,
  'unknown input': () => unlock(`${'22'.repeat(32)}#0`, succeeding).cbor,
  'script fails': async (devnet) => unlock(await lock(devnet, failingHash), failing).cbor,
  'missing datum V2': () => draft(base).cbor,
}

/** The request of a case, with the transaction of its situation. */
async function requestOf({ request, situation }: PeerCase, devnet: Devnet): Promise<object> {
  if (request.params !== undefined) {
    // The recorded tip is that of another chain.
    if (situation !== 'ws tip') return request
    const { slot, hash } = devnet.tip()
    return { ...request, params: { point: { slot: Number(slot), id: hash } } }
  }
  const transaction = situations[situation]
  if (transaction === undefined) return request
  return { ...request, params: { transaction: { cbor: toHex(await transaction(devnet)) } } }
}

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
