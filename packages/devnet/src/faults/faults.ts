import type { Fault, Faults } from './types.js'

export function createFaults(): Faults {
  let armed: { readonly fault: Fault; passing: number; left: number }[] = []

  return {
    inject(fault) {
      const entry = { fault, passing: fault.after ?? 0, left: fault.times ?? 1 }
      armed.push(entry)
      return () => {
        armed = armed.filter((other) => other !== entry)
      }
    },
    clear() {
      armed = []
    },
    meet(face, operation) {
      for (const entry of armed) {
        const { fault } = entry
        if (fault.face !== undefined && fault.face !== face) continue
        if (fault.operation !== undefined && fault.operation !== operation) continue
        if (entry.passing > 0) {
          entry.passing--
          continue
        }
        entry.left--
        if (entry.left <= 0) armed = armed.filter((other) => other !== entry)
        return fault
      }
      return undefined
    },
  }
}
