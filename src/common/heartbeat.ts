import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

/** Pongs between two beats; one answers the ping. No limit of messages counts them, and they take time as messages do. */
const maxPongs = 100

/**
 * Sends a ping at every beat and terminates a socket that has sent no data since the last ping, or nothing but pongs
 * without an end. A paused socket is not checked, since the data of its peer is unread.
 */
export function startHeartbeat(socket: WebSocket, wire: Socket, beat_ms: number): void {
  let read = -1
  let pongs = 0
  socket.on('pong', () => {
    pongs++
    if (pongs > maxPongs) socket.terminate()
  })
  const beat = setInterval(() => {
    pongs = 0
    if (socket.isPaused) {
      read = -1
      return
    }
    if (wire.bytesRead === read) {
      socket.terminate()
      return
    }
    read = wire.bytesRead
    socket.ping()
  }, beat_ms)
  beat.unref()
  socket.once('close', () => clearInterval(beat))
}
