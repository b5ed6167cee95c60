import { documentFees, slots } from '@ratatosk/test-kit'
import type { Layer2ChainOptions } from '../open-layer2-chain.js'

const missing = (name: string) => () => {
  throw new Error(`This test has no ${name}()`)
}
const methods = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, missing(name)]))

/** Options of a chain whose parts are missing; a test replaces those that it is about. */
export function layer2Options(changes: object = {}): Layer2ChainOptions {
  const options = {
    store: { ledger: {}, rejections: {}, blocks: {}, chain: {} },
    index: methods('outputs', 'caughtUp', 'progress', 'lagMs', 'wake'),
    queue: methods('add'),
    evaluator: methods('evaluate'),
    turns: methods('take'),
    parameters: documentFees,
    slots,
    networkMagic: 42,
    networkId: 0,
    maxBlockSize: 90_112,
    securityParameter: 2_160,
    maxTransactionSize: 16_384,
    submitTimeoutMs: 1_000,
    log: methods('warn'),
    now: Date.now,
    ...changes,
  }
  return options as unknown as Layer2ChainOptions
}
