import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'

/**
 * Sends a ping at every beat and terminates a socket that has sent no data since the last ping. A paused socket is not
 * checked, since the data of its peer is unread.
 */
export function startHeartbeat(socket: WebSocket, wire: Socket, beat_ms: number): void {
  let read = -1
  const beat = setInterval(() => {
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
