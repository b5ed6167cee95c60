import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { keysFromSeedPhrase } from '@ratatosk/ledger/builder'
import { freePort } from '@ratatosk/test-kit'
import { ask, until } from '@ratatosk/test-kit/http'
import type { Test } from 'tap'
import { type Placement, temporaryDirectory } from './backends.js'
import { exampleSettings, nodeServices, passwords } from './compose.js'
import { type NodeProcess, spawnNode } from './node-process.js'
import { watcherPhrase } from './watching.js'

const operatorPhrase = `${'test '.repeat(23)}sauce`

/** A process of a service of compose.yaml. */
export interface ServiceProcess {
  readonly service: string
  /** Host and port. */
  readonly address: string
  /** The names of the variables with keys in the environment of the process. */
  keys(): readonly string[]
  isReady(): Promise<boolean>
  /** Ends it in order and starts it again; waits until it is ready. @returns the exit code */
  restart(): Promise<number | NodeJS.Signals>
}

/**
 * Starts the nodes of compose.yaml as local processes, with the environment that it gives them: operator and
 * watcher have wallets of their own, which are in files.
 */
export async function splitDeployment(
  t: Test,
  { place, genesisFile, settings = {} }: { place: Placement; genesisFile: string; settings?: Placement },
): Promise<readonly ServiceProcess[]> {
  const [sequencerPort, readerPort, devnetPort] = [await freePort(), await freePort(), await freePort()]
  const ports: Readonly<Record<string, string[]>> = { sequencer: [sequencerPort], reader: [readerPort] }
  const directory = await temporaryDirectory(t)
  const phraseFile = async (name: string, phrase: string) => {
    await writeFile(join(directory, name), phrase)
    return join(directory, name)
  }
  const addressOf = (phrase: string) => keysFromSeedPhrase(phrase, { networkId: 0 }).addressText
  const services = nodeServices({
    ...exampleSettings(),
    ...passwords,
    OPERATOR_SEED_PHRASE_FILE: await phraseFile('operator', operatorPhrase),
    OPERATOR_ADDRESS: addressOf(operatorPhrase),
    WATCHER_SEED_PHRASE_FILE: await phraseFile('watcher', watcherPhrase),
  }).filter(([name]) => name !== 'tools')

  /** With the processes here in place of other containers. */
  const local = (value: string) =>
    value
      .replace('sequencer-inner:3000', `127.0.0.1:${sequencerPort}`)
      .replace('reader:3000', `127.0.0.1:${readerPort}`)
      .replace('sequencer-inner:1337', `127.0.0.1:${devnetPort}`)
      .replace('sequencer-inner', '127.0.0.1')

  async function start(service: string, given: Placement): Promise<ServiceProcess> {
    const { DATA_DIR: _, ...shared } = place
    const environment = {
      ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, local(value)])),
      ...('DATABASE_URL' in given ? shared : {}),
      PORT: ports[service]?.shift() ?? (await freePort()),
      ...(service === 'sequencer' && { DEVNET_PORT: devnetPort }),
      DATA_DIR: await temporaryDirectory(t),
      GENESIS_FILE: genesisFile,
      ...settings,
    }
    let node: NodeProcess = await spawnNode(t, environment)
    const isReady = async () => (await ask(`${node.url}/health/ready`)).status === 200
    return {
      service,
      address: `127.0.0.1:${environment.PORT}`,
      keys: () =>
        readFileSync(`/proc/${node.pid}/environ`, 'utf8')
          .split('\0')
          .map((each) => each.split('='))
          .filter(([name = '', value]) => /SEED_PHRASE/.test(name) && value)
          .map(([name = '']) => name),
      isReady,
      async restart() {
        const ended = await node.stop('SIGTERM')
        node = await spawnNode(t, environment)
        await until(isReady, { what: `${service} is ready again` })
        return ended
      },
    }
  }

  const processes: ServiceProcess[] = []
  const isSequencer = ([name]: readonly [string, unknown]) => name === 'sequencer'
  for (const [name, { environment, deploy }] of services.toSorted(
    (a, b) => +isSequencer(b) - +isSequencer(a),
  )) {
    for (let n = 0; n < (deploy?.replicas ?? 1); n++) processes.push(await start(name, environment))
    if (name !== 'sequencer') continue
    for (const phrase of [operatorPhrase, watcherPhrase])
      await topUp(`http://127.0.0.1:${sequencerPort}`, addressOf(phrase))
  }
  for (const each of processes) await until(each.isReady, { what: `${each.service} is ready` })
  return processes
}

/** Gives an address what a wallet of a node needs. */
async function topUp(sequencer: string, address: string): Promise<void> {
  for (let n = 0; n < 4; n++) {
    const { status, body } = await ask(`${sequencer}/devnet/addresses/topup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${passwords.OPERATOR_TOKEN}` },
      body: JSON.stringify({ address, adaAmount: 1000 }),
    })
    if (status !== 200) throw new Error(`The devnet did not pay ${address}: ${status} ${body}`)
  }
}
