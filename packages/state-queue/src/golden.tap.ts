import type { OperationResult } from '@ratatosk/ports'
import { golden } from '@ratatosk/test-kit/http'
import t from 'tap'
import type { RootUnits } from './index.js'
import { build } from './test/build.js'

interface Case {
  readonly request: string
  /** The answer of the port: one of the three. */
  readonly result?: OperationResult
  readonly units?: RootUnits
  readonly balance?: string
  readonly status: number
  readonly body: object
}

t.test('answers every result of a port as in the golden file', async (t) => {
  const { chain, get } = await build(t)
  for (const { request, status, body, ...port } of golden<Case[]>(import.meta.url, 'test/golden.json')) {
    if (port.result) chain.result = port.result
    if (port.units) chain.units = port.units
    if (port.balance) chain.balance = BigInt(port.balance)
    const answer = await get(request.replace('GET ', ''))
    const name = `${request}: ${JSON.stringify(port)}`
    t.equal(answer.status, status, name)
    t.equal(answer.body, JSON.stringify(body), name)
    t.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    t.equal(answer.headers['cache-control'], 'no-store')
  }
})
