import { equalBytes } from '@ratatosk/cbor'
import { encodeBech32Address, scriptAddress, type Utxo } from '@ratatosk/ledger'
import type {
  BuiltTransaction,
  NativeScriptContent,
  SigningKey,
  TransactionDraft,
} from '@ratatosk/ledger/builder'
import type { CallOptions, Layer1 } from '../types.js'
import type { BuildOptions, Wallet } from './open-wallet.js'

/** Gives transactions the authority of a credential, from any payer. */
export interface Authority {
  /** The same wallet; each transaction that it builds also has the authority. */
  over(wallet: Wallet): Wallet
}

/** The authority of a key: it signs. */
export const keyAuthority = (key: SigningKey): Authority => ({
  over: (wallet) => withBuild(wallet, (draft, options) => wallet.build(draft, cosigned(options, [key]))),
})

export interface ScriptAuthorityOptions {
  readonly layer1: Pick<Layer1, 'networkId' | 'utxosAt' | 'await'>
  readonly script: NativeScriptContent
  /** They sign; together they satisfy the script. */
  readonly keys: readonly SigningKey[]
}

/**
 * The authority of a native script: a transaction spends an output that the script locks and pays it back. If
 * there is none, the first build pays one to the script's address and waits until layer 1 includes it. A
 * draft that spends such an output itself needs no other.
 */
export function scriptAuthority({ layer1, script, keys }: ScriptAuthorityOptions): Authority {
  const address = scriptAddress(script.hash, layer1.networkId)
  const isLocked = ({ output }: Utxo): boolean => equalBytes(output.address.bytes, address.bytes)
  /** Of the newest transaction; the next may spend its output before it is included. */
  let latest: { readonly id: Uint8Array; readonly wallet: Wallet; readonly marker: Utxo } | undefined

  async function findMarker(wallet: Wallet, spared: readonly Utxo[], call: CallOptions): Promise<Utxo> {
    if (latest?.wallet.isInFlight(latest.id)) return latest.marker
    const find = async () =>
      (await layer1.utxosAt(encodeBech32Address(address), call)).find((utxo) => isPlain(utxo))
    const existing = await find()
    if (existing !== undefined) return existing
    const { id, produced } = await wallet.send({ outputs: [{ address: address.bytes }] }, { ...call, spared })
    await layer1.await(id, call)
    const paid = produced.find(isLocked)
    if (paid === undefined) throw new Error('The transaction that pays to the script has no output there')
    return paid
  }

  async function build(
    wallet: Wallet,
    draft: TransactionDraft,
    options: BuildOptions = {},
  ): Promise<BuiltTransaction> {
    const { inputs = [], outputs = [], scripts = [] } = draft
    const call = options.signal ? { signal: options.signal } : {}
    const named = inputs.map(({ utxo }) => utxo)
    const marker = named.some(isLocked) ? undefined : await findMarker(wallet, named, call)
    const authorised: TransactionDraft = {
      ...draft,
      scripts: [...scripts, script],
      ...(marker && {
        inputs: [...inputs, { utxo: marker }],
        outputs: [...outputs, { address: address.bytes, lovelaceAtLeast: marker.output.value.lovelace }],
      }),
    }
    const built = await wallet.build(authorised, cosigned(options, keys))
    const next = built.produced.find((utxo) => isLocked(utxo) && isPlain(utxo))
    if (next !== undefined) latest = { id: built.id, wallet, marker: next }
    return built
  }

  return { over: (wallet) => withBuild(wallet, (draft, options) => build(wallet, draft, options)) }
}

/** Without additions of strangers that make it costly, and without a published script. */
const isPlain = ({ output: { value, datum, referenceScript } }: Utxo): boolean =>
  value.assets.size === 0 && datum.kind === 'none' && referenceScript === undefined

const cosigned = (options: BuildOptions = {}, keys: readonly SigningKey[]): BuildOptions => ({
  ...options,
  cosigners: [...(options.cosigners ?? []), ...keys],
})

function withBuild(wallet: Wallet, build: Wallet['build']): Wallet {
  return {
    ...wallet,
    build,
    async send(draft, options) {
      const built = await build(draft, options)
      await wallet.submit(built, options?.signal ? { signal: options.signal } : {})
      return built
    },
  }
}
