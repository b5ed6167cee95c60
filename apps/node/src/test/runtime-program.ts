// A program that Bun, Deno and Node run against a node, to compare what it prints:
//   <runtime> runtime-program.js <URL of a node of the devnet> <seed phrase> <account that pays>
import { fromHex, toHex } from '@ratatosk/cbor'
import { createClient } from '@ratatosk/client'
import type { Cip30Wallet } from '@ratatosk/client/wallet'
import {
  decodeOutputReference,
  decodeTransactionOutput,
  parseProtocolParameters,
  scriptHash,
  timeToSlot,
} from '@ratatosk/ledger'
import { buildTransaction, keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { createEvaluator } from '@ratatosk/ledger/plutus'
import { withoutNetwork } from './without-network.js'

const [url = '', phrase = '', account = ''] = process.argv.slice(2)
const client = createClient(url)
const testAccount = 3

/** Mints a token by a Plutus script, and waits until the node has accepted that. */
async function mint() {
  const keys = keysFromSeedPhrase(phrase, { networkId: 0, account: Number(account) })
  const { protocolParameters, slotClock } = await client.getNetwork()
  const { utxos } = await client.listUtxos({ address: keys.addressText })
  const funds = utxos.map(({ outref, value }) => ({
    reference: decodeOutputReference(fromHex(outref)),
    output: decodeTransactionOutput(fromHex(value)),
  }))
  const slots = {
    zeroTime: BigInt(slotClock.zeroTime),
    zeroSlot: BigInt(slotClock.zeroSlot),
    slotLength: slotClock.slotLength,
  }
  const script = { language: 'PlutusV3', bytes: fromHex('450101002499') } as const
  const policy = toHex(scriptHash(script.language, script.bytes))
  const evaluator = createEvaluator({ threads: 1 })
  try {
    const { bytes, id, transaction } = await buildTransaction(
      { mint: [{ policy, assets: new Map([['aa', 1n]]), redeemer: fromHex('d87980') }], scripts: [script] },
      {
        funds,
        changeAddress: keys.address.bytes,
        signers: [keys.payment],
        parameters: parseProtocolParameters(protocolParameters),
        slots,
        slot: timeToSlot(slots, BigInt(Date.now())),
        networkId: 0,
        evaluator,
      },
    )
    const { id: submissionId } = await client.submit(toHex(bytes))
    await client.awaitTx(toHex(id), { submissionId, timeoutMs: 60_000 })
    const [redeemer] = transaction.witnesses.redeemers
    return { isAccepted: true, steps: String(redeemer?.executionUnits.steps) }
  } finally {
    await evaluator.close()
  }
}

async function firstEvent() {
  for await (const { type } of client.streamEvents({ after: '0.0.0' })) return type
  return undefined
}

/** The script of the devnet's wallet, as a page runs it. */
async function wallet() {
  const src = `${url}/dev-wallet.js?account=${testAccount}`
  const page = globalThis as unknown as { document?: object; cardano?: Record<string, Cip30Wallet> }
  page.document = { currentScript: { src } }
  // biome-ignore lint/security/noGlobalEval: a page runs scripts like this.
  globalThis.eval(await (await fetch(src)).text())
  const api = await page.cardano?.ratatosk?.enable()
  const address = (await api?.getChangeAddress()) ?? ''
  return { address, data: await api?.signData(address, 'c0ffee'), balance: await api?.getBalance() }
}

console.log(
  JSON.stringify({
    ...withoutNetwork(),
    mint: await mint(),
    firstEvent: await firstEvent(),
    wallet: await wallet(),
  }),
)
