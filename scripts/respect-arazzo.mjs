// Runs the flows of docs/arazzo.yaml with `redocly respect` against a node with an embedded store, in a
// temporary directory. Needs the registry and a build.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withApiTools } from './api-tools.mjs'
import { root } from './prepare.mjs'

const load = (path) => import(join(root, path))
const { readSettings, startNode } = await load('apps/node/dist/index.js')
const { buildTransaction, keysFromSeedPhrase } = await load('packages/ledger/dist/builder/index.js')
const { decodeOutputReference, decodeTransactionOutput, parseProtocolParameters } = await load(
  'packages/ledger/dist/index.js',
)
const { testWallets } = await load('packages/devnet/dist/index.js')

const tokens = { FAUCET_TOKEN: 'faucet', OPERATOR_TOKEN: 'operator' }
/** The account of the devnet that pays; the node itself uses the first three. */
const account = 3

const directory = await mkdtemp(join(tmpdir(), 'ratatosk-respect-'))
const node = await startNode(
  readSettings({
    ...tokens,
    FAUCET_LAYER: '2',
    MATURITY_WINDOW_MS: '3000',
    MERGE_INTERVAL_MS: '1000',
    PORT: '0',
    DATA_DIR: directory,
    LOG_LEVEL: 'silent',
  }),
)
try {
  const flows = await inputsOfFlows(node.url)
  await withApiTools(['redocly'], async (run) => {
    for (const [workflow, inputs] of Object.entries(flows)) {
      const { status, stdout, stderr } = await run(
        'redocly',
        'respect',
        join(root, 'docs/arazzo.yaml'),
        '--workflow',
        workflow,
        '--input',
        JSON.stringify(inputs),
        '--server',
        `node=${node.url}`,
      )
      const [steps, checks] = ['Steps', 'Checks'].map(
        (what) => new RegExp(`${what}: ([0-9]+) passed`).exec(stdout)?.[1],
      )
      if (status === 0 && steps > 0) console.log(`${workflow}: green, ${steps} steps, ${checks} checks`)
      else {
        console.error(`${workflow}:\n${stdout}${stderr}`)
        process.exitCode = 1
      }
    }
  })
} finally {
  await node.close()
  await rm(directory, { recursive: true, force: true })
}

/** The inputs of each flow, ordered so that later ones find the results of earlier ones. */
async function inputsOfFlows(url) {
  const keys = keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account })
  const { slotClock, protocolParameters } = await (await fetch(`${url}/network`)).json()
  const slots = {
    zeroTime: BigInt(slotClock.zeroTime),
    zeroSlot: BigInt(slotClock.zeroSlot),
    slotLength: slotClock.slotLength,
  }
  const now = slots.zeroSlot + (BigInt(Date.now()) - slots.zeroTime) / BigInt(slots.slotLength)
  const { utxos } = await (await fetch(`${url}/utxos?address=${keys.addressText}`)).json()
  const funds = utxos.map(({ outref, value }) => ({
    reference: decodeOutputReference(Buffer.from(outref, 'hex')),
    output: decodeTransactionOutput(Buffer.from(value, 'hex')),
  }))
  /** Pays the wallet itself from one of its outputs. */
  const payment = async (slot = now, draft = {}) => {
    const { bytes, id, spent } = await buildTransaction(
      { outputs: [{ address: keys.addressText, lovelace: 5_000_000n }], ...draft },
      {
        funds: [funds.pop()],
        changeAddress: keys.address.bytes,
        signers: [keys.payment],
        parameters: parseProtocolParameters(protocolParameters),
        slots,
        slot,
        networkId: 0,
      },
    )
    const [{ reference }] = spent
    return {
      transaction: Buffer.from(bytes).toString('hex'),
      txHash: Buffer.from(id).toString('hex'),
      spentOutref: `${Buffer.from(reference.transactionId).toString('hex')}#${reference.index}`,
    }
  }
  const { transaction, txHash, spentOutref } = await payment()
  const operatorToken = tokens.OPERATOR_TOKEN
  return {
    submitAndAwait: { transaction },
    evaluateThenSubmit: { transaction: (await payment()).transaction },
    claimFromFaucet: {
      faucetToken: tokens.FAUCET_TOKEN,
      // The second address of the wallet, which has nothing.
      address: keysFromSeedPhrase(testWallets.mnemonic, { networkId: 0, account, addressIndex: 1 })
        .addressText,
      idempotencyKey: `respect-${Date.now()}`,
      ipHash: 'respect',
    },
    readAddress: { address: keys.addressText },
    proveOutput: { txHash, outref: `${txHash}#0`, spentOutref },
    commitAndMerge: { operatorToken, transaction: (await payment()).transaction },
    explainRejection: {
      operatorToken,
      // Valid long ago only.
      transaction: (await payment(now - 1000n, { validUntil: now - 900n })).transaction,
    },
  }
}
