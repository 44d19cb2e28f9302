// The official Go client of A2A 0.3: finds the card at a base URL, asks in words, prints what it was told.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"
	"strings"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
)

func main() {
	ctx := context.Background()
	card, err := agentcard.DefaultResolver.Resolve(ctx, os.Args[1])
	if err != nil {
		log.Fatalf("no card: %v", err)
	}
	client, err := a2aclient.NewFromCard(ctx, card)
	if err != nil {
		log.Fatalf("no client: %v", err)
	}
	asked := a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: "read a web page"})
	result, err := client.SendMessage(ctx, &a2a.MessageSendParams{Message: asked})
	if err != nil {
		log.Fatalf("no answer: %v", err)
	}
	message, ok := result.(*a2a.Message)
	if !ok {
		log.Fatalf("not a message: %T", result)
	}
	var texts []string
	for _, part := range message.Parts {
		switch text := part.(type) {
		case a2a.TextPart:
			texts = append(texts, text.Text)
		case *a2a.TextPart:
			texts = append(texts, text.Text)
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]string{"answer": strings.Join(texts, "\n")})
}
