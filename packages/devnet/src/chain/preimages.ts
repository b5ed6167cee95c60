import { blake2b256, type Script, type Transaction, type TransactionOutput, toHex } from '@ratatosk/ledger'

/** What was seen behind a hash: datums and scripts. They stay known when a block is undone, as their hashes stay true. */
export interface Preimages {
  datum(hash: string): Uint8Array | undefined
  script(hash: string): Script | undefined
  see(transaction: Transaction): void
  seeOutput(output: TransactionOutput): void
}

export function createPreimages(): Preimages {
  const datums = new Map<string, Uint8Array>()
  const scripts = new Map<string, Script>()

  function seeOutput({ datum, referenceScript }: TransactionOutput): void {
    if (datum.kind === 'inline') datums.set(toHex(blake2b256(datum.data)), datum.data)
    if (referenceScript !== undefined) scripts.set(toHex(referenceScript.hash), referenceScript)
  }

  return {
    datum: (hash) => datums.get(hash),
    script: (hash) => scripts.get(hash),
    seeOutput,
    see({ body, witnesses, auxiliaryData }) {
      for (const [hash, datum] of witnesses.datums) datums.set(hash, datum)
      for (const script of witnesses.scripts) scripts.set(toHex(script.hash), script)
      for (const script of auxiliaryData?.scripts ?? []) scripts.set(toHex(script.hash), script)
      for (const output of body.outputs) seeOutput(output)
      if (body.collateralReturn !== undefined) seeOutput(body.collateralReturn)
    },
  }
}
