import { Agent } from 'node:http'
import { type Answer, ask } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'

/** Asks one node many things over few connections. */
export interface KeepAliveClient {
  get(path: string): Promise<Answer>
  /** Posts a transaction; returns the submission's id, and fails where the answer is not 200. */
  submit(cborHex: string): Promise<string>
}

export function keepAliveClient(t: Test, url: string, connections = 16): KeepAliveClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  t.teardown(() => agent.destroy())
  return {
    get: (path) => ask(`${url}${path}`, { agent }),
    async submit(cborHex) {
      const headers = { 'content-type': 'text/plain' }
      const { status, body } = await ask(`${url}/submit`, { method: 'POST', headers, body: cborHex, agent })
      if (status !== 200) throw new Error(`/submit answered ${status}: ${body}`)
      return JSON.parse(body).id
    },
  }
}
