import { httpErrorOptions, httpErrors, OverloadedError } from '@ratatosk/http'
import { bech32 } from 'bech32'
import fastify from 'fastify'
import type { Test } from 'tap'
import faucet, { type ClaimRequest, type ClaimResult, type FaucetOptions } from '../index.js'

export const token = 's3cret-token'

const hash = Buffer.alloc(28, 0x11)

/** Bech32 of an address: type and network id of the header (CIP-19), then the credentials. */
export function addressText(prefix: string, type: number, networkId: number, ...rest: Uint8Array[]): string {
  const bytes = Buffer.concat([Buffer.of((type << 4) | networkId), ...rest])
  return bech32.encode(prefix, bech32.toWords(bytes), 10_000)
}

export const enterprise = addressText('addr_test', 6, 0, hash)
export const claimBody = { address: enterprise, idempotencyKey: 'key', ipHash: 'ip' }

export const funded: ClaimResult = {
  kind: 'funded',
  claimId: '0b7f5c1e-6c5e-4d5c-9a34-0f6b1f8b7a11',
  txHash: 'ab'.repeat(32),
  amount: 100_000_000n,
  nextEligibleAt: new Date(Date.UTC(2026, 10, 22, 12)),
}

interface LogLine {
  level: number
  msg: string
  err?: { message: string; code?: string; stack: string }
}

/** A server with the plugin over a payer that returns `answers.result`, or throws an overload before. */
export async function build(t: Test, options: Partial<FaucetOptions> = {}) {
  const asked: ClaimRequest[] = []
  const log: LogLine[] = []
  const answers: { result: ClaimResult | Error } = { result: funded }
  const server = fastify({
    ...httpErrorOptions,
    logger: { level: 'trace', stream: { write: (line: string) => void log.push(JSON.parse(line)) } },
  })
  t.teardown(() => server.close())
  await server.register(httpErrors)
  server.addHook('onRequest', async () => {
    if (answers.result instanceof OverloadedError) throw answers.result
  })
  await server.register(faucet, {
    token,
    network: 'testnet',
    payer: {
      async claim(request) {
        asked.push(request)
        if (answers.result instanceof Error) throw answers.result
        return answers.result
      },
    },
    ...options,
  })

  async function post(payload: unknown, headers: { [name: string]: string } = {}, url = '/faucet/claims') {
    const response = await server.inject({
      method: 'POST',
      url,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
    })
    return { status: response.statusCode, body: response.body, headers: response.headers }
  }
  return { server, asked, log, answers, post }
}
