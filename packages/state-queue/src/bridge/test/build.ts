import { httpErrorOptions, httpErrors } from '@ratatosk/http'
import { CannedPorts, listening, recordedLog } from '@ratatosk/test-kit/http'
import fastify from 'fastify'
import type { Test } from 'tap'
import bridge, {
  type BridgeAnswer,
  type BridgeOptions,
  type BridgePorts,
  type DepositAnswer,
  type DepositRequest,
  type DepositsPart,
  type DraftOutcome,
  type PayoutDraftRequest,
  type PayoutOutcome,
  type PayoutRequest,
  type SubmitOutcome,
  type WithdrawalAnswer,
  type WithdrawalsPart,
} from '../index.js'

/** A bridge in memory; records what it is asked. */
export class Ports extends CannedPorts {
  view: BridgeAnswer = {
    address: 'addr_test1wbridge',
    policies: { bridge: bytes(28, 0xb1), events: bytes(28, 0xe1) },
    assets: [bytes(28, 0xa1)],
    eventWaitMs: 15_000n,
    payoutFee: 300_000n,
    reserveMin: 5_000_000n,
    treasury: { lovelace: 0n, assets: [], outputs: 0 },
    settlements: [],
  }
  deposits: readonly DepositAnswer[] = []
  withdrawals: readonly WithdrawalAnswer[] = []
  withdrawalsAreBusy = false
  drafted: DraftOutcome = { kind: 'busy' }
  submitted: SubmitOutcome = { kind: 'foreign' }
  paid: PayoutOutcome = { kind: 'refused', reason: 'Nothing is owed' }
  readonly parts: (DepositsPart | WithdrawalsPart)[] = []
  readonly requests: (DepositRequest | PayoutDraftRequest | PayoutRequest)[] = []
  readonly sent: Uint8Array[] = []

  readonly ports: BridgePorts = {
    bridge: { read: () => this.answer('bridge', this.view) },
    deposits: {
      list: (part) => {
        this.parts.push(part)
        const { address, limit, offset } = part
        if (address === 'nobody') return this.answer('deposits', 'not an address' as const)
        const hasMore = this.deposits.length > offset + limit
        return this.answer('deposits', { deposits: this.deposits.slice(offset, offset + limit), hasMore })
      },
    },
    withdrawals: {
      list: (part) => {
        this.parts.push(part)
        const { address, limit, offset } = part
        if (address === 'nobody') return this.answer('withdrawals', 'not an address' as const)
        if (this.withdrawalsAreBusy) return this.answer('withdrawals', 'busy' as const)
        const withdrawals = this.withdrawals.slice(offset, offset + limit)
        return this.answer('withdrawals', { withdrawals, hasMore: this.withdrawals.length > offset + limit })
      },
    },
    drafter: {
      deposit: (request) => {
        this.requests.push(request)
        return this.answer('deposit', this.drafted)
      },
      payout: (request) => {
        this.requests.push(request)
        return this.answer('payout', this.drafted)
      },
    },
    submitter: {
      submit: (transaction) => {
        this.sent.push(transaction)
        return this.answer('submit', this.submitted)
      },
    },
    payer: {
      pay: (request) => {
        this.requests.push(request)
        return this.answer('pay', this.paid)
      },
    },
  }
}

/** A listening server with the plugin over ports of its own; its log is recorded. */
export async function build(t: Test, options?: Partial<BridgeOptions>) {
  const ports = new Ports()
  const { stream, records: log } = recordedLog()
  const server = fastify({ ...httpErrorOptions, logger: { level: 'debug', stream } })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  await server.register(bridge, { ports: ports.ports, ...options })
  const { url, get, ...rest } = await listening(server)
  const post = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const type = { 'content-type': 'application/json', ...headers }
    const answer = await fetch(`${url}${path}`, { method: 'POST', body: text, headers: type })
    return { status: answer.status, body: await answer.json() }
  }
  return { server, ports, log, url, get, post, ...rest }
}

/** So many bytes of one kind. */
export function bytes(length: number, byte: number): Uint8Array {
  return new Uint8Array(length).fill(byte)
}

/** The same in hex. */
export const hex = (length: number, byte: number) => Buffer.from(bytes(length, byte)).toString('hex')

export function deposit(byte: number, changes: Partial<DepositAnswer> = {}): DepositAnswer {
  return {
    id: bytes(32, byte),
    layer1Outref: `${hex(32, 0xcc)}#0`,
    outref: `${hex(32, byte)}#0`,
    output: Uint8Array.of(0xa2, byte),
    time: 1_767_225_600_000n,
    state: 'waiting',
    ...changes,
  }
}

export function withdrawal(byte: number, changes: Partial<WithdrawalAnswer> = {}): WithdrawalAnswer {
  return {
    outref: `${hex(32, byte)}#1`,
    output: Uint8Array.of(0xa3, byte),
    payTo: 'addr_test1vsomebody',
    kind: 'transaction',
    state: 'accepted',
    ...changes,
  }
}
