import { rmSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PublicWallet, RunningNode, TestWallets } from '@ratatosk/node'
import { loadNode } from '@ratatosk/node/bundled'
import { copyFolder, copyTemplate, defaultTemplates, saveTemplate, templateOf } from './template.js'

/** A wallet of a test node, with funds on both layers. THE KEYS ARE PUBLIC: never use it elsewhere. */
export interface FundedWallet extends PublicWallet {
  /** 24 words (BIP-39), the same for all wallets. */
  readonly seedPhrase: string
}

/** The first accounts are the administrator, the operator and the faucet. */
const reserved = 3

/** Wallets of the devnet that the node does not use. @throws {RangeError} if there are too few */
function fundedWallets(testWallets: TestWallets, count: number): readonly FundedWallet[] {
  const most = testWallets.wallets.length - reserved
  if (!Number.isInteger(count) || count < 0 || count > most)
    throw new RangeError(`wallets must be a whole number from 0 to ${most}, not ${count}`)
  const { mnemonic: seedPhrase, wallets } = testWallets
  return wallets.slice(reserved, reserved + count).map((wallet) => ({ ...wallet, seedPhrase }))
}

/** Options of {@link startNode}. */
export interface TestNodeOptions {
  /** Number of funded wallets, up to 7. Default: 2. */
  readonly wallets?: number
  /**
   * Settings of the node by the names of its environment variables, such as `{ MATURITY_WINDOW_MS: '5000' }`.
   * The environment of the process is not read.
   */
  readonly settings?: Readonly<Record<string, string>>
  /** Folder of the templates. Default: `.cache/ratatosk/testing` in the nearest `node_modules`. */
  readonly templates?: string
}

/** The state of a test node, both layers and the time; in a folder that its node removes when it closes. */
export interface SavedState {
  readonly folder: string
  /** POSIX milliseconds. */
  readonly time: number
}

/** A node for a test. */
export interface TestNode {
  /** Base URL, such as `http://127.0.0.1:40123`; the APIs for SDKs are below `/l2`. */
  readonly url: string
  readonly wallets: readonly FundedWallet[]
  /** The current slot. Both layers count the same slots, of one second. */
  slot(): number
  /**
   * Moves the time of both layers forward to a slot, and waits for a block of layer 1 in it or later: about a
   * second. Returns at once if there is such a block.
   * @throws {RangeError} if the slot is no whole number
   * @throws {Error} if the node is closed, before or meanwhile
   */
  awaitSlot(slot: number): Promise<void>
  /** Saves the state. The node restarts at the same URL, so requests in progress must have ended. */
  save(): Promise<SavedState>
  /**
   * Returns to a saved state, of this node or another with the same settings. The node restarts.
   * @throws {TypeError} for anything else
   */
  load(state: SavedState): Promise<void>
  /** Stops the node and removes everything that it wrote, except the template. */
  close(): Promise<void>
}

/** A test would lose what makes it quick and repeatable; the node takes a free port. */
const refusedSettings = [
  'DATABASE_URL',
  'DATA_DIR',
  'LAYER1_PROVIDER',
  'NETWORK',
  'NODE_ROLE',
  'PORT',
  'REDIS_URL',
]

/** A node that lives for a test needs no API reference, and merges soon. */
const defaultSettings = {
  LOG_FORMAT: 'json',
  LOG_LEVEL: 'silent',
  MERGE_INTERVAL_MS: '500',
  SERVE_DOCS: 'false',
}

/** Length of a devnet's slots. */
const slotMs = 1000

const optionNames = ['wallets', 'settings', 'templates']

/** How long a start may wait for layer 1, in milliseconds. */
const initialMs = 120_000

/**
 * Starts a whole node in this process: layer 2, its sequencer and a layer 1 of its own, on an embedded
 * database and a free port. The first start saves a template, of which later ones, also of other processes,
 * start a copy.
 *
 * @throws {RangeError} for too many wallets
 * @throws {TypeError} for an option or a setting that there is not, or that a test node cannot have
 * @throws SettingsError for an invalid setting
 *
 * @example
 * const node = await startNode({ wallets: 2 })
 * await fetch(`${node.url}/utxos?address=${node.wallets[0]?.address}`)
 * await node.close()
 */
export async function startNode(options: TestNodeOptions = {}): Promise<TestNode> {
  const { settings = {}, templates = defaultTemplates() } = options
  refuse(
    options,
    (name) => !optionNames.includes(name),
    (name) => `there is no option ${name}; the options are ${optionNames.join(', ')}`,
  )
  refuse(
    settings,
    (name) => refusedSettings.includes(name),
    (name) => `settings must not contain ${name}`,
  )
  // All from the bundle: to load one of these packages automatically takes as long as the rest of a start.
  const loaded = await loadNode()
  const { readSettings, nearestSetting, startNode: openNode, testGenesis, testWallets, build } = loaded
  refuse(
    settings,
    (name) => !isSetting(loaded.settingsSchema.properties, name),
    (name) => {
      const near = nearestSetting(name)
      return `there is no setting ${name}${near === undefined ? '' : `: did you mean ${near}?`}`
    },
  )
  const wallets = fundedWallets(testWallets, options.wallets ?? 2)
  const template = templateOf(templates, settings, build)
  const folder = await createWorkFolder()
  const clock = new Clock()
  const data = join(folder, 'data')
  /** @param port 0: a free one */
  const open = (port: string) =>
    openNode(readSettings({ ...defaultSettings, ...settings, PORT: port, DATA_DIR: data }), {
      clock: clock.now,
    })
  let node: RunningNode
  try {
    node = await openFromTemplate(templates, template, data, () => open('0'))
  } catch (error) {
    await removeWorkFolder(folder)
    throw error
  }
  loaded.keepCode()
  const { url } = node
  let states = 0
  let isClosed = false
  const refuseClosed = () => {
    if (isClosed) throw new Error('The node is closed')
  }

  /** Changes the files of the node while it is stopped. */
  async function whileStopped(change: () => Promise<void>): Promise<void> {
    refuseClosed()
    await node.close()
    try {
      await change()
    } finally {
      node = await open(new URL(url).port)
    }
  }

  const { startTime } = testGenesis()
  const slot = () => Math.floor((clock.now() - startTime) / slotMs)
  return {
    url,
    wallets,
    slot,
    async awaitSlot(wanted) {
      if (!Number.isSafeInteger(wanted)) throw new RangeError(`slot must be a whole number, not ${wanted}`)
      refuseClosed()
      // By whole slots, so that blocks keep their place in their slots.
      clock.move(Math.max(0, wanted - slot()) * slotMs)
      while (Number(await node.layer1Slot?.()) < wanted) {
        await sleep(20)
        refuseClosed()
      }
    },
    async save() {
      const state = { folder: join(folder, `state-${++states}`), time: clock.now() }
      await whileStopped(() => copyFolder(data, state.folder))
      return state
    },
    async load(state) {
      await checkState(state)
      await whileStopped(async () => {
        await rm(data, { recursive: true })
        await copyFolder(state.folder, data)
        clock.set(state.time)
      })
    },
    async close() {
      isClosed = true
      await node.close()
      await removeWorkFolder(folder)
    },
  }
}

/** @throws {TypeError} that names the first of the given options or settings to which it applies */
function refuse(
  given: object,
  applies: (name: string) => boolean,
  messageOf: (name: string) => string,
): void {
  const found = Object.entries(given).find(([name, value]) => value !== undefined && applies(name))
  if (found !== undefined) throw new TypeError(messageOf(found[0]))
}

/** @throws {TypeError} for anything but a state whose folder is there */
async function checkState(state: SavedState): Promise<void> {
  const { folder, time }: Partial<SavedState> = state ?? {}
  const isThere = async () => (await stat(String(folder)).catch(() => undefined))?.isDirectory() === true
  if (typeof folder === 'string' && Number.isFinite(time) && (await isThere())) return
  throw new TypeError('load() takes a state that save() of an open node has given: { folder, time }')
}

/** A secret may be in the file that a setting names. */
function isSetting(schemas: Readonly<Record<string, object>>, name: string): boolean {
  if (Object.hasOwn(schemas, name)) return true
  return name.endsWith('_FILE') && 'secret' in (schemas[name.slice(0, -'_FILE'.length)] ?? {})
}

/** Opens a node on a copy of its template, or makes the template first. */
async function openFromTemplate(
  templates: string,
  template: string,
  data: string,
  open: () => Promise<RunningNode>,
): Promise<RunningNode> {
  if (await copyTemplate(template, data)) {
    try {
      return await open()
    } catch {
      // Damaged, or of another version of a dependency: it can be made again.
      await rm(template, { recursive: true, force: true })
      await rm(data, { recursive: true, force: true })
    }
  }
  const node = await open()
  try {
    if (node.settings.AUTO_INIT) await initialised(node)
  } finally {
    await node.close()
  }
  await saveTemplate(data, templates, template)
  return open()
}

/** Waits until the state queue is on layer 1. */
async function initialised({ url }: RunningNode): Promise<void> {
  const deadline = performance.now() + initialMs
  for (;;) {
    const response = await fetch(`${url}/stateQueue/root-unit-diagnostics`)
    const { status } = (await response.json()) as { readonly status: string }
    if (status === 'ok') return
    if (performance.now() > deadline)
      throw new Error(`The state queue was not initialised within ${initialMs / 1000} s`)
    await sleep(50)
  }
}

/** A clock that can be set. It runs as fast as the system's. */
class Clock {
  #aheadMs = 0

  /** The time in POSIX milliseconds. */
  readonly now = (): number => Date.now() + this.#aheadMs

  /** Moves the clock, forward or back. */
  move(ms: number): void {
    this.#aheadMs += ms
  }

  set(time: number): void {
    this.move(time - this.now())
  }
}

/** Memory, where a thousand files are copied ten times as fast as to a disk. */
const memory = '/dev/shm'
/** The least free space, in bytes: a node takes 42 MiB, and grows. */
const leastFree = 2 ** 30
/** Folders of killed processes are removed when they are this old, in milliseconds. */
const abandonedMs = 3_600_000
const prefix = 'ratatosk-testing-'

/** Folders of this process, which are removed when it exits. */
const folders = new Set<string>()
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

async function createWorkFolder(): Promise<string> {
  const parent = (await isRoomy(memory)) ? memory : tmpdir()
  await removeAbandoned(parent)
  const folder = await mkdtemp(join(parent, `${prefix}${process.pid}-`))
  folders.add(folder)
  return folder
}

async function removeWorkFolder(folder: string): Promise<void> {
  folders.delete(folder)
  await rm(folder, { recursive: true, force: true })
}

async function isRoomy(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= leastFree
  } catch {
    return false
  }
}

async function removeAbandoned(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? []
    if (pid === undefined || isRunning(Number(pid))) continue
    const path = join(parent, name)
    const age = await stat(path).then(
      ({ mtimeMs }) => Date.now() - mtimeMs,
      () => 0,
    )
    // One of another user cannot be removed, and does not matter to this one.
    if (age > abandonedMs) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
