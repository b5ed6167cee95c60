import type { Transaction } from '../../transaction/types.js'
import type { Findings, Json } from '../failures.js'
import type { ScriptUse } from '../script-use.js'

/** UTXOW: MissingRedeemers, ExtraRedeemers. Each use of a Plutus script needs exactly one redeemer. */
export function validateRedeemers({ witnesses }: Transaction, use: ScriptUse, findings: Findings): void {
  const pointers = new Set(witnesses.redeemers.map(({ purpose, index }) => `${purpose}:${index}`))
  const needed = new Set<string>()
  const missing: Json[] = []
  for (const { purpose, index, scriptHash } of use.needs) {
    const script = use.provided.get(scriptHash)
    if (script === undefined || script.language === 'native') continue
    const pointer = `${purpose}:${index}`
    needed.add(pointer)
    if (!pointers.has(pointer)) missing.push({ purpose, index, scriptHash })
  }
  // The index of an input does not depend on its output, so it is known even if the output is not.
  if (missing.length > 0) {
    findings.add('MissingRedeemers', `${missing.length} of the redeemers that are needed are missing`, {
      redeemers: missing,
    })
  }
  if (pointers.size === 0 || !use.complete) return
  const extra = witnesses.redeemers.filter(({ purpose, index }) => !needed.has(`${purpose}:${index}`))
  if (extra.length === 0) return
  findings.add('ExtraRedeemers', `${extra.length} of the redeemers point to nothing that needs one`, {
    redeemers: extra.map(({ purpose, index }) => ({ purpose, index })),
  })
}
