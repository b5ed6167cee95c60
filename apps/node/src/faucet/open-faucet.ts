import { createFaucet, type Faucet, type FaucetWallet } from '@ratatosk/faucet'
import type { ProtocolParameters } from '@ratatosk/ledger'
import { createSubmissionQueue } from '@ratatosk/queue'
import { createLayer1FaucetWallet, createLayer2FaucetWallet } from '@ratatosk/workers'
import type { Logger } from 'pino'
import { keysOf } from '../layer1/keys.js'
import type { Settlement } from '../layer1/open-settlement.js'
import type { Network } from '../network/networks.js'
import type { ClosingStack } from '../parts/closing-stack.js'
import type { Parts } from '../parts/open-parts.js'
import type { Settings } from '../settings/schema.js'

export interface FaucetParts {
  readonly settings: Settings
  readonly parts: Parts
  readonly settlement: Settlement
  /** Of layer 2. */
  readonly parameters: ProtocolParameters
  readonly network: Network
  /** POSIX milliseconds of now. */
  readonly clock: () => number
  readonly log: Logger
}

/** Opens the faucet, and begins to find out what became of payments of an earlier process. */
export function openFaucet(options: FaucetParts, closing: ClosingStack): Faucet {
  const { settings, parts, log } = options
  const faucet = createFaucet({
    claims: parts.store.faucetClaims,
    wallet: walletOf(options),
    amount: BigInt(settings.FAUCET_AMOUNT),
    cooldownMs: settings.FAUCET_COOLDOWN_SECONDS * 1000,
    dailyIpLimit: settings.FAUCET_DAILY_IP_LIMIT,
    minBalance: BigInt(settings.FAUCET_MIN_BALANCE),
    log,
    now: options.clock,
  })
  closing.defer(() => faucet.close())
  faucet.settle().catch((err: unknown) => {
    log.warn({ err }, 'What became of earlier payments of the faucet is found out at the next claim')
  })
  return faucet
}

function walletOf({ settings, parts, settlement, parameters, network, clock }: FaucetParts): FaucetWallet {
  if (settings.FAUCET_LAYER === '1') {
    return createLayer1FaucetWallet({
      layer1: settlement.layer1,
      keys: keysOf('FAUCET_SEED_PHRASE', settings),
    })
  }
  return createLayer2FaucetWallet({
    store: parts.store,
    submissions: createSubmissionQueue(parts.queue),
    keys: keysOf('FAUCET_SEED_PHRASE', settings),
    parameters,
    slots: network.slots,
    now: clock,
  })
}
