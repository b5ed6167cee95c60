import { isDecodeError } from '@ratatosk/cbor'
import { type AwaitTxOptions, type Client, ClientError, RejectedError } from '@ratatosk/client'
import {
  type Address,
  type Assets,
  decodeTransaction,
  encodeBech32Address,
  outputReferenceKey,
  type Transaction,
  type TransactionOutput,
} from '@ratatosk/ledger'
import { type Static, type TObject, Type, TypeGuard } from '@sinclair/typebox'
import { Value, type ValueError, ValueErrorType } from '@sinclair/typebox/value'
import { controlsRemedy } from '../bridge/layer1-outputs.js'
import { receiverOf } from '../bridge/order.js'
import { readStatus } from '../commands/status.js'
import { CommandError } from '../frame/errors.js'
import { afterSending } from '../frame/node-connection.js'
import { devnetFunds, openBuilder, outputsOf } from '../layer2/layer2.js'

const reads = { readOnlyHint: true }
const changes = { readOnlyHint: false, destructiveHint: false }
/** Answers are read by a model: more is of no use to it. */
const mostOutputs = 100
const defaultFunds = 100_000_000
const longestReason = 2000

const address = Type.String({ description: 'Bech32 address', minLength: 1, maxLength: 200 })
const transaction = Type.String({
  description: 'hex of a signed transaction',
  pattern: '^([0-9a-fA-F]{2})+$',
  maxLength: 2_097_152,
})
const txHash = Type.String({ description: 'transaction hash of 64 hex digits', pattern: '^[0-9a-fA-F]{64}$' })
const waiting = {
  finality: Type.Optional(
    Type.Union(
      (['accepted', 'committed', 'mature', 'merged'] as const).map((name) => Type.Literal(name)),
      { description: 'Wait until the transaction is in this state; default: do not wait' },
    ),
  ),
  timeoutSeconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 600, description: 'Longest wait; default 60' }),
  ),
}

const info = tool(
  {
    name: 'info',
    description: 'Whether the node is ready; its network, slots, APIs, state queue and wallet',
    annotations: reads,
  },
  Type.Object({}, { additionalProperties: false }),
  async (_, { client }) => {
    const status = await readStatus(client)
    const { protocolParameters: _parameters, ...network } = await client.getNetwork()
    return { ...status, ...network }
  },
)

const fund = tool(
  {
    name: 'fund',
    description:
      'Pay test ada to an address: on the devnet from a public test wallet on layer 2, elsewhere by the ' +
      'faucet of the node',
    annotations: changes,
  },
  Type.Object(
    {
      address,
      lovelace: Type.Optional(
        // Answers have amounts as text.
        Type.Union(
          [
            Type.Integer({ minimum: 1_000_000, maximum: 1_000_000_000 }),
            Type.String({ pattern: '^([1-9][0-9]{6,8}|1000000000)$' }),
          ],
          { description: '1000000 to 1000000000, devnet only; default 100000000' },
        ),
      ),
    },
    { additionalProperties: false },
  ),
  async ({ address: to, lovelace = defaultFunds }, { client }) => {
    const builder = await openBuilder(client)
    // Retried with the same key: a claim pays once.
    if (builder.network !== 'devnet') return { ...(await client.claim({ address: to, ipHash: 'mcp' })) }
    receiverOf(to, 'address')
    const amount = BigInt(lovelace)
    const funds = await devnetFunds(client, amount + 2_000_000n)
    if (funds === undefined)
      throw new CommandError('CLI_NO_FUNDS', 'No test wallet has enough: an empty DATA_DIR begins anew.')
    const payment = await builder.pay({ ...funds, to, lovelace: amount })
    const { id } = await client.submit(payment.transaction)
    const { status } = await afterSubmission(client, payment.txHash, { submissionId: id, timeoutMs: 60_000 })
    return { txHash: payment.txHash, status, lovelace: String(amount) }
  },
)

const utxos = tool(
  {
    name: 'utxos',
    description: `The unspent outputs of an address, at most ${mostOutputs} of them; total counts them all`,
    annotations: reads,
  },
  Type.Object({ address }, { additionalProperties: false }),
  async (input, { client }) => {
    const all = await outputsOf(client, input.address)
    const shown = all.slice(0, mostOutputs).map(({ reference, output }) => ({
      outref: outputReferenceKey(reference),
      ...describeOutput(output),
      cbor: Buffer.from(output.bytes).toString('hex'),
    }))
    return { total: all.length, utxos: shown }
  },
)

const decode = tool(
  { name: 'decode', description: 'Show what a transaction does. Nothing is sent', annotations: reads },
  Type.Object({ transaction }, { additionalProperties: false }),
  async (input) => describeTransaction(decoded(input.transaction)),
)

const evaluate = tool(
  {
    name: 'evaluate',
    description: 'Validate a signed transaction without submitting it; lists every rule that it breaks',
    annotations: reads,
  },
  Type.Object({ transaction }, { additionalProperties: false }),
  async (input, { client }) => ({ ...(await client.evaluate(input.transaction)) }),
)

const submit = tool(
  { name: 'submit', description: 'Submit a signed transaction to layer 2', annotations: changes },
  Type.Object({ transaction, ...waiting }, { additionalProperties: false }),
  async ({ transaction: cbor, finality, timeoutSeconds }, { client }) => {
    const hash = Buffer.from(decoded(cbor).id).toString('hex')
    const { id } = await client.submit(cbor)
    if (finality === undefined) return { submissionId: id, txHash: hash }
    const options = waitOptions(finality, timeoutSeconds)
    const status = await afterSubmission(client, hash, { ...options, submissionId: id })
    return { submissionId: id, ...status }
  },
)

const status = tool(
  {
    name: 'status',
    description: 'How far a transaction has come, or why it was rejected',
    annotations: reads,
  },
  Type.Object({ txHash, ...waiting }, { additionalProperties: false }),
  async ({ txHash: text, finality, timeoutSeconds }, { client }) => {
    const hash = text.toLowerCase()
    if (finality === undefined) return { ...(await client.getTransactionStatus({ tx_hash: hash })) }
    return { ...(await client.awaitTx(hash, waitOptions(finality, timeoutSeconds))) }
  },
)

const rollBack = tool(
  {
    name: 'roll_back',
    description: 'Undo the newest blocks of the layer-1 devnet. Their transactions return to its mempool',
    annotations: { readOnlyHint: false, destructiveHint: true },
  },
  Type.Object({ blocks: Type.Integer({ minimum: 1, maximum: 2160 }) }, { additionalProperties: false }),
  async ({ blocks }, { devnetUrl }) => {
    if (devnetUrl === undefined)
      throw new CommandError(
        'CLI_NO_DEVNET',
        `Start \`ratatosk mcp\` with --devnet-url. ${controlsRemedy('It')}.`,
      )
    const response = await fetch(`${devnetUrl}/roll-back`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ blocks, resubmit: true }),
      signal: AbortSignal.timeout(30_000),
    }).catch(() => undefined)
    if (response === undefined)
      throw new CommandError('CLI_NO_DEVNET', 'The devnet does not answer: correct --devnet-url.')
    if (!response.ok)
      throw new CommandError(
        'CLI_ROLL_BACK',
        `The devnet answered ${response.status}: ${(await textOf(response)).slice(0, longestReason)}` +
          (response.status === 404 ? `. ${controlsRemedy('--devnet-url')}.` : ''),
      )
    return { tip: parsed(await textOf(response)) }
  },
)

export const tools: readonly Tool[] = [info, fund, utxos, decode, evaluate, submit, status, rollBack]

function waitOptions(finality: NonNullable<AwaitTxOptions['finality']>, timeoutSeconds = 60): AwaitTxOptions {
  return { finality, timeoutMs: timeoutSeconds * 1000 }
}

/** Waits for a transaction that the node has taken; an error says so. */
async function afterSubmission(
  client: Client,
  txHash: string,
  options: AwaitTxOptions & { submissionId: string },
) {
  const advice =
    `The transaction ${txHash} was submitted: do not replace it by another one before the tool status ` +
    'says that it was rejected'
  const value = { submissionId: options.submissionId, txHash }
  return client.awaitTx(txHash, options).catch((error: unknown) => {
    if (!(error instanceof ClientError) || error instanceof RejectedError) throw error
    throw afterSending(error, { value, advice })
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new CommandError('CLI_ANSWER', 'The devnet did not answer with JSON: correct --devnet-url.')
  }
}

function decoded(hex: string): Transaction {
  try {
    return decodeTransaction(Buffer.from(hex, 'hex'))
  } catch (error) {
    if (!isDecodeError(error)) throw error
    throw new CommandError('CLI_NOT_A_TRANSACTION', `Not a transaction: ${error.message}`)
  }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** An output in words; amounts are decimal digits. */
function describeOutput({ address, value, datum, referenceScript }: TransactionOutput) {
  return {
    address: addressText(address),
    lovelace: String(value.lovelace),
    ...(value.assets.size > 0 && { assets: describeAssets(value.assets) }),
    ...(datum.kind === 'hash' && { datumHash: hex(datum.hash) }),
    ...(datum.kind === 'inline' && { datum: hex(datum.data) }),
    ...(referenceScript && { referenceScript: hex(referenceScript.hash) }),
  }
}

function describeTransaction({ id, body, witnesses, isValid }: Transaction) {
  const { invalidBefore, invalidHereafter } = body.validityInterval
  return {
    txHash: hex(id),
    inputs: body.inputs.map(outputReferenceKey),
    outputs: body.outputs.map(describeOutput),
    fee: String(body.fee),
    ...(invalidBefore !== undefined && { firstSlot: String(invalidBefore) }),
    ...(invalidHereafter !== undefined && { lastSlot: String(invalidHereafter - 1n) }),
    ...(body.mint.size > 0 && { mint: describeAssets(body.mint) }),
    ...(body.referenceInputs.length > 0 && { referenceInputs: body.referenceInputs.map(outputReferenceKey) }),
    ...(body.collateralInputs.length > 0 && { collateral: body.collateralInputs.map(outputReferenceKey) }),
    certificates: body.certificates.map(({ kind }) => kind),
    signatures: witnesses.keyWitnesses.map(({ publicKey }) => hex(publicKey)),
    redeemers: witnesses.redeemers.map(({ purpose, index }) => `${purpose} ${index}`),
    declaredValid: isValid,
  }
}

function describeAssets(assets: Assets): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...assets].flatMap(([policy, names]) =>
      [...names].map(([name, quantity]) => [`${policy}${name}`, String(quantity)] as const),
    ),
  )
}

function addressText(address: Address): string {
  return address.kind === 'byron' ? hex(address.bytes) : encodeBech32Address(address)
}

const mostBytes = 16 * 1024 * 1024

/** The text of an answer. @throws CommandError if it is longer than any honest one */
async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let bytes = 0
  let text = ''
  for await (const piece of body ?? []) {
    bytes += piece.length
    if (bytes > mostBytes) throw new CommandError('CLI_ANSWER', `The answer has more than ${mostBytes} bytes`)
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}

export interface ToolContext {
  readonly client: Client
  /** Base URL of the control API of a devnet. */
  readonly devnetUrl: string | undefined
}

interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: TObject
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint?: boolean }
  /** @throws CommandError, or a ClientError */
  run(input: unknown, context: ToolContext): Promise<Readonly<Record<string, unknown>>>
}

/** Defines a tool whose input is checked against its schema. */
function tool<T extends TObject>(
  notes: Pick<Tool, 'name' | 'description' | 'annotations'>,
  inputSchema: T,
  run: (input: Static<T>, context: ToolContext) => Promise<Readonly<Record<string, unknown>>>,
): Tool {
  return {
    ...notes,
    inputSchema,
    async run(input = {}, context) {
      if (Value.Check(inputSchema, input)) return run(input, context)
      refuseUnknown(inputSchema, input)
      const fault = Value.Errors(inputSchema, input).First()
      const where = fault === undefined || fault.path === '' ? 'The input' : fault.path.slice(1)
      throw new CommandError('CLI_TOOL_INPUT', `${where}: ${fault === undefined ? '' : reasonOf(fault)}`)
    },
  }
}

/** @throws CommandError */
function refuseUnknown({ properties }: TObject, input: unknown): void {
  const names = Object.keys(properties)
  const unknown = Object.keys(Object(input)).find((name) => !names.includes(name))
  if (unknown === undefined) return
  const others = names.length === 0 ? 'there are none' : `the fields are ${names.join(', ')}`
  throw new CommandError('CLI_TOOL_INPUT', `There is no field ${unknown}: ${others}`)
}

/** The library quotes a pattern, and of a union it only says that none of its kinds is there. */
function reasonOf({ type, message, schema }: ValueError): string {
  if (type === ValueErrorType.StringPattern) return `Expected ${schema.description}`
  if (!TypeGuard.IsUnion(schema)) return message
  const values = schema.anyOf.flatMap((each) => (TypeGuard.IsLiteral(each) ? [each.const] : []))
  return `Expected ${values.length > 0 ? `one of ${values.join(', ')}` : schema.description}`
}
