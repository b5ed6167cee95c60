import { cleanUp } from './clean-up.mjs'

/** Measures the parts that a variable names, separated by commas; by default all. Cleans up after each. */
export async function measureParts(parts, variable) {
  try {
    for (const name of (process.env[variable] ?? Object.keys(parts).join()).split(',')) {
      const measure = parts[name]
      if (measure === undefined) throw new Error(`${variable} is of ${Object.keys(parts)}, not "${name}"`)
      try {
        await measure()
      } finally {
        await cleanUp()
      }
    }
  } catch (error) {
    console.error(error)
    process.exitCode = 1
  }
}
