import { type Assets, minimumLovelace, type ProtocolParameters } from '@ratatosk/ledger'
import { toOutput } from '@ratatosk/ledger/builder'
import { assetsOf, keysOf, lovelaceOf, payerArguments, receiverOf, unitsOf } from '../bridge/order.js'
import { command } from '../frame/command.js'
import { CommandError, UsageError } from '../frame/errors.js'
import { fileText } from '../frame/files.js'
import { connect, nodeArguments } from '../frame/node-connection.js'
import { createProgress } from '../frame/terminal.js'
import { ada, counted } from '../frame/text.js'
import { type PaidAll, parametersOf, payAll } from '../layer2/layer2.js'

/** Of a file with payments. */
const mostBytes = 4_194_304

/** `ratatosk pay` */
export const pay = command(
  'pay',
  'Pay ada or tokens on layer 2, to one address or to all of a file, in as many transactions as it takes',
  {
    to: { type: 'string', valueHint: 'address', description: 'Who gets it' },
    lovelace: { type: 'string', valueHint: 'amount', description: 'Lovelace; 1 ada is 1000000' },
    asset: { type: 'string', valueHint: 'unit=quantity,…', description: 'Tokens, too' },
    file: {
      type: 'string',
      valueHint: 'path',
      description: 'Instead: a file with a payment per line, as <address> <lovelace> [<unit=quantity,…>]',
    },
    'max-fee': {
      type: 'string',
      valueHint: 'amount',
      description: 'The most lovelace that one transaction may cost. Default: 1000000',
    },
    ...payerArguments,
    ...nodeArguments,
  },
  async (args, shell) => {
    const listed = args.file === undefined ? [] : paymentsIn(args)
    const outputs = args.file === undefined ? [outputOf(args)] : listed.map(({ output }) => output)
    const from = keysOf(args)
    const maxFee = args['max-fee'] === undefined ? undefined : lovelaceOf(args['max-fee'], '--max-fee')
    const client = await connect(args, shell)
    if (listed.length > 0) checkAmounts(listed, await parametersOf(client), args.file)
    const progress = createProgress(shell, true)
    const value = await payAll(client, from, outputs, { maxFee, onProgress: progress.show }).finally(
      progress.clear,
    )
    return { value, lines: linesOf(value) }
  },
)

interface Payment {
  readonly to?: string | undefined
  readonly lovelace?: string | undefined
  readonly asset?: string | undefined
}

interface PaymentOutput {
  readonly address: Uint8Array
  readonly lovelace: bigint
  readonly assets: Assets
}

/** A payment of a file. */
interface ListedPayment {
  readonly output: PaymentOutput
  /** From 1. */
  readonly line: number
}

function outputOf({ to, lovelace, asset }: Payment): PaymentOutput {
  if (to === undefined || lovelace === undefined)
    throw new UsageError('Name --to and --lovelace, or a --file with a payment per line.')
  return { address: receiverOf(to).bytes, lovelace: lovelaceOf(lovelace), assets: assetsOf(unitsOf(asset)) }
}

function paymentsIn({
  file = '',
  to,
  lovelace,
  asset,
}: Payment & { readonly file?: string | undefined }): readonly ListedPayment[] {
  if ([to, lovelace, asset].some((each) => each !== undefined))
    throw new UsageError('--file names the payments: leave --to, --lovelace and --asset out.')
  const payments = fileText(file, '--file', 'CLI_FILE', mostBytes)
    .split('\n')
    .flatMap((line, index) => {
      const [address, amount, tokens, ...others] = line.trim().split(/\s+/)
      if (address === '') return []
      try {
        if (amount === undefined || others.length > 0)
          throw new UsageError('write an address, lovelace and, if any, assets, with spaces between.')
        const output = outputOf({ to: address, lovelace: amount, asset: tokens })
        return [{ output, line: index + 1 }]
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        throw new CommandError('CLI_FILE', `Line ${index + 1} of "${file}": ${error.message}`)
      }
    })
  if (payments.length === 0) throw new CommandError('CLI_FILE', `The file "${file}" has no payments.`)
  return payments
}

/** @throws CommandError for the first payment that has less lovelace than layer 2 requires */
function checkAmounts(payments: readonly ListedPayment[], parameters: ProtocolParameters, file = ''): void {
  for (const { output, line } of payments) {
    const { address, lovelace, assets } = output
    const paid = toOutput({ address, value: { lovelace, assets }, datum: { kind: 'none' } })
    const least = minimumLovelace(paid, parameters)
    if (lovelace < least)
      throw new CommandError(
        'CLI_FILE',
        `Line ${line} of "${file}": ${lovelace} lovelace is too little, the least is ${least}. ` +
          'Nothing was submitted.',
      )
  }
}

function linesOf({ transactions, reasons }: PaidAll): string[] {
  const fee = transactions.reduce((sum, each) => sum + BigInt(each.fee), 0n)
  const payments = transactions.reduce((sum, each) => sum + each.payments, 0)
  const lines = transactions.map(({ txHash, payments: count }) => {
    const what = count === 0 ? 'joins outputs of the wallet' : counted(count, 'payment')
    return `${txHash}  ${what}`
  })
  const [made, sent] = [counted(payments, 'payment'), counted(transactions.length, 'transaction')]
  lines.push(`${made} on layer 2 in ${sent}, for fees of ${ada(fee)}`)
  if (reasons.length > 0) lines.push('One transaction was not enough:')
  return [...lines, ...reasons.map(({ predicate, message }) => `  ${predicate}: ${message}`)]
}
