import { isLayer1Error, type Layer1 } from '@ratatosk/layer1'
import { slotToTime } from '@ratatosk/ledger'
import type { NodeContext } from '../context.js'
import { connectProvider, type OpenedLayer1 } from '../layer1/open-layer1.js'
import type { Settings } from '../settings/schema.js'
import { timeOf } from './clock.js'
import { about, type ForeignTime, type Inspection, type NodeFinding } from './finding.js'

const { ok, failed } = about('layer 1')
const timeoutMs = 5000
/** Public networks have a block every 20 seconds on average; half an hour without one is a fault. */
const oldestTipMs = 1_800_000
const lovelacePerAda = 1_000_000n

/** Asks the provider of layer 1 for its network, its tip and the operator's wallet. Changes nothing. */
export async function inspectLayer1(context: NodeContext): Promise<Inspection> {
  const { settings, clock } = context
  const limits = { attempts: 1, requestTimeoutMs: timeoutMs, callTimeoutMs: 2 * timeoutMs }
  const provider = connectProvider(context, limits)
  if (provider === undefined) return { findings: [ok('a devnet of the node')] }
  const url = settings.BLOCKFROST_URL ?? settings.OGMIOS_URL ?? ''
  const time = await timeOf(url, 'layer 1', { clock, timeoutMs })
  try {
    const tip = await checkTip(context, provider, time)
    const findings = tip.status === 'ok' ? [tip, ...(await checkWallet(context, provider))] : [tip]
    return { findings, ...(time && { time }) }
  } catch (error) {
    if (!isLayer1Error(error)) throw error
    const message = `${provider.place}: ${error.message}. ${mendOf(error.code, settings)}`
    return { findings: [failed(message)], ...(time && { time }) }
  }
}

async function checkTip(
  { clock }: NodeContext,
  { layer1, place }: OpenedLayer1,
  time: ForeignTime | undefined,
): Promise<NodeFinding> {
  const [tip, slots] = await Promise.all([layer1.tip(), layer1.slots()])
  const ageMs = clock() - (time?.aheadMs ?? 0) - Number(slotToTime(slots, tip.slot))
  if (ageMs <= oldestTipMs) return ok(`${place}, block ${tip.height}`)
  return failed(
    `${place} is behind: its newest block is ${Math.round(ageMs / 60_000)} minutes old. ` +
      'Wait until its node has caught up, or use another provider.',
  )
}

/** Whether the wallet that pays for commitments has funds. */
async function checkWallet(
  { keys: { operator }, settings }: NodeContext,
  { layer1 }: { readonly layer1: Layer1 },
): Promise<readonly NodeFinding[]> {
  if (operator === undefined) return []
  const wallet = about('wallet')
  const utxos = await layer1.utxosAt(operator.addressText)
  const lovelace = utxos.reduce((sum, { output }) => sum + output.value.lovelace, 0n)
  if (lovelace > 0n) return [wallet.ok(`${lovelace / lovelacePerAda} ada at ${operator.addressText}`)]
  const bond = BigInt(settings.OPERATOR_BOND) / lovelacePerAda
  return [
    wallet.failed(
      `The operator's wallet is empty: send the bond of ${bond} ada and some ada for fees to ` +
        `${operator.addressText}.`,
    ),
  ]
}

function mendOf(code: string, { LAYER1_PROVIDER, NETWORK }: Settings): string {
  const url = LAYER1_PROVIDER === 'blockfrost' ? 'BLOCKFROST_URL' : 'KUPO_URL and OGMIOS_URL'
  switch (code) {
    case 'LAYER1_UNREACHABLE':
    case 'LAYER1_TIMEOUT':
      return `Start it, or correct ${url}.`
    case 'LAYER1_WRONG_NETWORK':
      return `NETWORK is ${NETWORK}: correct NETWORK or ${url}.`
    case 'LAYER1_UNAUTHORIZED':
      return 'Correct BLOCKFROST_PROJECT_ID.'
    case 'LAYER1_RATE_LIMITED':
      return 'Wait, or use a project with a higher limit.'
    default:
      return `Check ${url}.`
  }
}
