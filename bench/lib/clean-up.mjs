// The tasks that undo a script's effects, in reverse order when it ends, fails or is interrupted.
const tasks = []

export function defer(task) {
  tasks.push(task)
}

/** Runs every deferred clean-up once; reports failures and continues. */
export async function cleanUp() {
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    try {
      await task()
    } catch (error) {
      console.error('while cleaning up:', error)
      process.exitCode = 1
    }
  }
}

/**
 * Measures one after the other, and cleans up after each.
 *
 * @template Each, Figure
 * @param {readonly Each[]} all
 * @param {(each: Each) => Promise<Figure>} measure
 * @returns {Promise<Figure[]>}
 */
export async function measureEach(all, measure) {
  const figures = []
  for (const each of all) {
    try {
      figures.push(await measure(each))
    } finally {
      await cleanUp()
    }
  }
  return figures
}

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await cleanUp()
    process.exit(1)
  })
}
