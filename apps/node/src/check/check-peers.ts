import { duties } from '../roles.js'
import { maskedUrl } from '../settings/read.js'
import type { Settings } from '../settings/schema.js'
import { about, type NodeFinding } from './finding.js'

const { ok, warning, failed } = about('peers')
const noBlock = '0'.repeat(56)
const mend =
  'Start it, or correct ARCHIVIST_PEERS: an address ends with the path of these routes, /archivist.'

/** Whether the peers have the routes of an archivist. An archive without any of them stays empty. */
export async function checkPeers(
  { ARCHIVIST_PEERS = [], NODE_ROLE }: Pick<Settings, 'ARCHIVIST_PEERS' | 'NODE_ROLE'>,
  timeoutMs = 5000,
): Promise<readonly NodeFinding[]> {
  const faults = await Promise.all(ARCHIVIST_PEERS.map((url) => faultOf(url, timeoutMs)))
  const isEmpty = duties[NODE_ROLE].bodies === 'archive' && !faults.includes(undefined)
  return faults.map((fault, place) => {
    const name = maskedUrl(ARCHIVIST_PEERS[place] ?? '')
    if (fault === undefined) return ok(name)
    return (isEmpty ? failed : warning)(`${name} ${fault}. ${mend}`)
  })
}

async function faultOf(url: string, timeoutMs: number): Promise<string | undefined> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/block/${noBlock}/header`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const reader = response.body?.getReader()
    const { value = new Uint8Array() } = (await reader?.read()) ?? {}
    await reader?.cancel()
    if (Buffer.from(value).includes(`Block not found: ${noBlock}`)) return undefined
    return `is no archivist, it answers ${response.status}`
  } catch {
    return 'does not answer'
  }
}
