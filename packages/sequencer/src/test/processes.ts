import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createDevnet, type Devnet, devnetApis, testGenesis } from '@ratatosk/devnet'
import { createDevnetLayer1, type Layer1 } from '@ratatosk/layer1'
import type { Contracts } from '@ratatosk/protocol'
import { openStore, type Store } from '@ratatosk/store'
import { databaseUrl, randomName, type SignedTransaction } from '@ratatosk/test-kit'
import { needServices, removeTraces } from '@ratatosk/test-kit/vitest'
import fastify from 'fastify'
import { expect, type TestContext } from 'vitest'
import { openRoots } from '../roots/index.js'
import { expectAgreement } from './agreement.js'
import { contractsOf, devnetDeploymentOutput, type Extra, extraTerms } from './rollup-contracts.js'

const program = fileURLToPath(new URL('../../dist/test/sequencer-process.js', import.meta.url))

/** A sequencer in a process of its own. */
export interface Started {
  readonly child: ChildProcess
  /** Resolves when it has the lease. */
  readonly working: Promise<unknown>
}

export interface Scene {
  readonly store: Store
  /** Its schema. */
  readonly name: string
  readonly devnet: Devnet
  readonly layer1: Layer1
  readonly contracts: Contracts
  start(child: number): Promise<Started>
  agree(child: number, accepted: readonly SignedTransaction[]): Promise<void>
}

/** `maturityWindow` in milliseconds. With a `peer`, the sequencers commit nothing and adopt its blocks. */
export async function openProcesses(
  context: TestContext,
  funds: number,
  maturityWindow: number,
  extra?: Extra,
  peer: () => string = () => '',
): Promise<Scene> {
  await needServices(context)
  const schema = randomName()
  const store = await openStore({ url: databaseUrl, schema })
  const genesis = { ...testGenesis(), startTime: Math.floor(Date.now() / 1000) * 1000 - 60_000 }
  const devnet = await createDevnet({ genesis, slotLengthMs: 100, blockEveryMs: 100 })
  const server = fastify({ forceCloseConnections: true })
  await server.register(devnetApis, { devnet })
  const url = await server.listen({ host: '127.0.0.1', port: 0 })
  const folder = await mkdtemp(join(tmpdir(), 'ratatosk-roots-'))
  const children: ChildProcess[] = []
  context.onTestFinished(async () => {
    for (const child of children) child.kill('SIGKILL')
    await server.close()
    await devnet.close()
    await store.close()
    await removeTraces(schema)
    await rm(folder, { recursive: true })
  })
  // Two at a time, each with the folder of the last but one before it, as that one left it.
  const rootsOf = (child: number) => join(folder, `${child % 2}`)
  const contracts = contractsOf(
    BigInt(maturityWindow),
    devnetDeploymentOutput(),
    undefined,
    extra && extraTerms[extra],
  )
  const layer1 = createDevnetLayer1(devnet)
  return {
    store,
    name: schema,
    devnet,
    layer1,
    contracts,
    async start(child) {
      const process = fork(
        program,
        [
          schema,
          `${url}/kupo`,
          `${url}/ogmios`,
          rootsOf(child),
          `sequencer-${child}`,
          `${funds}`,
          `${maturityWindow}`,
          ...(extra ? [extra] : []),
        ],
        {
          stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
          env: { ...globalThis.process.env, RATATOSK_PEER: peer() },
        },
      )
      children.push(process)
      const [message] = await once(process, 'message')
      expect(message).toBe('ready')
      return { child: process, working: once(process, 'message') }
    },
    async agree(child, accepted) {
      const roots = await openRoots({ path: rootsOf(child), bridge: contracts.bridge?.place.script.hash })
      try {
        await expectAgreement(store, layer1, roots, accepted, contracts)
      } finally {
        await roots.close()
      }
    },
  }
}
