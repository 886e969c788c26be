CREATE TABLE "certificate_texts" (
	"name" text COLLATE "C" PRIMARY KEY NOT NULL,
	"sealed" text COLLATE "C" NOT NULL
);
