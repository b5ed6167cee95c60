// What a script has to undo, done in reverse order when it ends, fails or is interrupted.
const tasks = []

export function defer(task) {
  tasks.push(task)
}

/** Does what was deferred and is not done yet; what fails is told and keeps nothing else from being done. */
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

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await cleanUp()
    process.exit(1)
  })
}
