const second = 1000
const eraseLine = '\r\u001b[K'

/**
 * Counts the seconds of work that takes longer than one on a terminal, until it is disposed. Nothing else may be printed
 * meanwhile.
 */
export function showWaiting(stream: NodeJS.WriteStream = process.stderr): Disposable {
  if (!stream.isTTY) return { [Symbol.dispose]() {} }
  let seconds = 0
  const timer = setInterval(() => {
    seconds++
    stream.write(`${eraseLine}… ${seconds} s`)
  }, second)
  timer.unref()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      if (seconds > 0) stream.write(eraseLine)
    },
  }
}
