import { encodeHeader, type Header, headerHash } from '@ratatosk/block'
import { BytesMap, BytesSet } from '@ratatosk/cbor'
import { type Layer1, openWallet } from '@ratatosk/layer1'
import { keysFromSigningKey, type TransactionDraft } from '@ratatosk/ledger/builder'
import { openStore, type VerdictStage } from '@ratatosk/store'
import { openTestStore } from '@ratatosk/test-kit/vitest'
import { onTestFinished } from 'vitest'
import { openScene, provableContracts } from '../../../../protocol/dist/test/protocol-scene.js'
import type { WatcherContext } from '../context.js'
import { openOutbox } from '../send.js'
import { evaluator } from './scene.js'

const header: Header = {
  prevUtxosRoot: new Uint8Array(32),
  utxosRoot: new Uint8Array(32),
  transactionsRoot: new Uint8Array(32),
  depositsRoot: new Uint8Array(32),
  withdrawalsRoot: new Uint8Array(32),
  startTime: 0n,
  endTime: 1n,
  prevHeaderHash: new Uint8Array(28),
  operatorVkey: new Uint8Array(32),
  blockVersion: 1n,
}

/** The shared context of a watcher, with a wallet that has one output, and one verdict. */
export async function openContext(lovelace: bigint) {
  const scene = await openScene(provableContracts)
  const { devnet, layer1, run } = scene
  onTestFinished(() => devnet.close())
  const store = await openTestStore(openStore)
  const keys = keysFromSigningKey('07'.repeat(32), { networkId: 0 })
  const address = keys.address.bytes
  const funded = await run({ outputs: [{ address, lovelace }] })
  const hash = headerHash(header)
  const verdict = { headerHash: hash, height: 1n, header: encodeHeader(header), reason: 'It breaks a rule' }
  await store.verdicts.found(verdict)
  const lacks: (string | undefined)[] = []
  const log = { warn: () => undefined, info: () => undefined, error: () => undefined }
  const step = () => undefined
  /** As a process has it that has just started. */
  const start = (own: Partial<Layer1> = {}) => {
    const shown = { ...layer1, ...own }
    const wallet = openWallet({ layer1: shown, keys, evaluator })
    const { verdicts } = store
    const means = { layer1: shown, wallet, verdicts, log, step }
    const outbox = openOutbox(means, { resendEverySlots: 0, lagSlots: 120_000 / scene.slots.slotLength })
    return {
      contracts: provableContracts,
      layer1: shown,
      wallet,
      verdicts,
      validityMs: 600_000,
      sweeps: new BytesMap(),
      included: new BytesSet(),
      outbox: async () => outbox,
      signal: new AbortController().signal,
      log,
      isUndecided: () => true,
      step,
      lacks: (lack?: { readonly code: string }) => lacks.push(lack?.code),
    } as unknown as WatcherContext
  }
  return {
    ...scene,
    address,
    store,
    funded: funded.produced[0]!,
    headerHash: hash,
    lacks,
    start,
    /** Builds and records a transaction, and does not send it. */
    async record(stage: VerdictStage, draft: TransactionDraft, { wallet } = start()) {
      const { id, bytes, fee, produced } = await wallet.build(draft)
      const recorded = { id, stage, cbor: bytes, fee, locked: 0n }
      await store.verdicts.record(hash, recorded)
      return { recorded, produced, id }
    },
  }
}
