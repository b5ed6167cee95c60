import { knownDeviations, peerCases } from '@ratatosk/test-kit'
import { faultsOf } from '@ratatosk/test-kit/blockfrost-document'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPeersScene } from '../../test/peers-scene.js'

interface Case {
  readonly method: 'GET'
  readonly pathTemplate: string
  readonly path: string
  readonly situation: string
  readonly expectedStatus: number
  readonly expectedShape: string
  readonly expectedMessage?: string
}

const cases = peerCases<Case>('blockfrost-semantics.json')
const deviations = knownDeviations('blockfrost')

describe.skipIf(cases === undefined)('the answers of Blockfrost (needs peers/ in RATATOSK_VECTORS)', () => {
  let scene: Awaited<ReturnType<typeof openPeersScene>>
  beforeAll(async () => {
    scene = await openPeersScene()
  })
  afterAll(() => scene.close())

  async function agrees(each: Case): Promise<unknown> {
    const url = `/blockfrost/api/v0${scene.pathOf(each.path)}`
    const { statusCode, body } = await scene.server.inject({ method: each.method, url })
    const json = JSON.parse(body)
    expect({ status: statusCode, body: json }).toMatchObject({ status: each.expectedStatus })
    if (each.expectedMessage !== undefined) expect(json.message).toBe(each.expectedMessage)
    if (statusCode === 200) expect(faultsOf(each.pathTemplate, json)).toBeUndefined()
    if (each.expectedShape === '[]') expect(json).toEqual([])
    if (each.expectedShape === 'array, not empty') expect(json).not.toHaveLength(0)
    if (each.expectedShape === 'as lower-case') {
      const lower = await scene.server.inject({ method: each.method, url: url.toLowerCase() })
      expect(body).toBe(lower.body)
    }
    return json
  }

  it.each(cases ?? [])('$method $path: $situation', async (each) => {
    const reason = deviations[`${each.method} ${each.path}`]
    if (reason === undefined) await agrees(each)
    // A deviation that has gone must leave the list.
    else await expect(agrees(each), reason).rejects.toThrow()
  })
})
